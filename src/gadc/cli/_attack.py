"""`gadc attack`: attack a trained model, store the flipped edges, and show what they do."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc._base.files import write_text
from gadc._base.plugins import plugin_names
from gadc._base.scalars import check_choice
from gadc.cli._graph_data import tell_notes
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.defender import Hook, ModelName, Settings, make_defender, read_settings
from gadc.cli._options.names import ATTACKS
from gadc.cli._options.output import AsJson, check_file
from gadc.cli._options.resume import Resume
from gadc.cli._options.split_graph import SplitGraphOptions
from gadc.cli._output import print_facts, print_json, say
from gadc.cli._progress import counting, working

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data

    from gadc.robustness.attacks import EdgeAttack, Flips, Metattack, Scores
    from gadc.robustness.auditing import Fit

with deferred():
    import torch

    from gadc import robustness
    from gadc._base import pairs


@dataclass(frozen=True, kw_only=True)
class AttackOptions:
    """The options that describe an attack."""

    attack: Annotated[
        str,
        typer.Option(
            "--attack", help=f"Name of the attack: {', '.join((*ATTACKS, *plugin_names('gadc.attacks')))}."
        ),
    ]
    rate: Annotated[
        float | None, typer.Option("--rate", help="Budget as a share of the edges, above 0 and at most 1.")
    ] = None
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget", min=1, help="Budget as a number of edges instead (for nettack, per target)."
        ),
    ] = None
    victims: Annotated[
        str | None,
        typer.Option(
            "--victims",
            help="Nodes to attack: test, all-unlabelled (all but the training nodes), or numbers such as "
            "3,14,15. Default: test; for metattack all-unlabelled.",
        ),
    ] = None
    mode: Annotated[str, typer.Option("--mode", help="Allowed changes: flip, add or remove edges.")] = "flip"
    attack_setting: Annotated[
        list[str] | None,
        typer.Option("--attack-setting", help="Setting of the attack as key=value; can be repeated."),
    ] = None

    def request(self, data: Data, seed: int, fit: Fit) -> AttackRequest:
        """Check the options on a graph and return the attack they describe."""
        check_choice("--attack", self.attack, "the name", tuple(robustness.attacks.ATTACKS))
        victims = self.victims or ("all-unlabelled" if self.attack == "metattack" else "test")
        request = AttackRequest(
            data=data,
            attack=self.attack,
            settings=read_settings(self.attack_setting, "--attack-setting"),
            budget=_read_budget(data, self.attack, self.rate, self.budget),
            victims=victims,
            nodes=_read_victims(data, victims, need_labels=self.attack != "metattack"),
            mode=robustness.attacks.Rules(mode=self.mode).mode,
            seed=seed,
            fit=fit,
        )
        request.make()  # refuses invalid settings before the training
        return request


@expand_bundles
def attack(
    graph: SplitGraphOptions,
    options: AttackOptions,
    out: Annotated[Path, typer.Option("-o", "--out", help="File of flipped edges to write (.npz).")],
    model: ModelName = None,
    hook: Hook = None,
    setting: Settings = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all random choices.")] = 0,
    resume: Resume = True,
    as_json: AsJson = False,
) -> None:
    """Attack a trained model, store the flipped edges, and show what they do to the model.

    Attacks by gradient differentiate the model itself. The attacks poison-pgd and poison-prbcd differentiate
    its training, or ridge regression where it has none; poison-eva trains it again and again. Metattack
    attacks the training of a surrogate; if it is interrupted, the same command resumes it.

    Example: gadc attack --data cora-prognn --attack metattack --rate 0.25 -o attacked.npz
    """
    _check_out(out)
    name, fit = make_defender(model, hook, setting)
    with working("Reading the graph"):
        data = graph.read_split(seed)
    tell_notes(data)
    request = options.request(data, seed, fit)
    partial = out.with_name(f"{out.name}.partial.json")
    with working(f"Training {name}"):
        scores = fit(data, seed)
    flips = request.run(scores, partial, resume=resume)
    with working(f"Training {name} again"):
        accuracies = request.test_accuracies(scores, flips)
    manifest = {
        **request.manifest(flips, model=name),
        "data": graph.title,
        "split": graph.split,
        "model_settings": list(setting or ()),
        "test_accuracy": accuracies,
    }
    robustness.attacks.save_perturbation(out, flips, manifest)
    partial.unlink(missing_ok=True)
    if as_json:
        return print_json({"out": str(out), **manifest})
    shown = {key: manifest[key] for key in ("attack", "model", "budget", "flips", "added", "removed", "seed")}
    figures = {f"{part} accuracy %": round(value, 1) for part, value in accuracies.items()}
    print_facts(f"{graph.title}: {int(data.test_mask.sum()):,} test nodes", {**shown, **figures})
    say(f"Wrote {out}.")


@dataclass(frozen=True, eq=False, kw_only=True)
class AttackRequest:
    """The attack that the options describe.

    Attributes:
        data: The clean graph.
        attack: Name of the attack.
        settings: Settings of the attack.
        budget: Number of edges to flip; for Nettack per target, with None for its own rule.
        victims: The attacked nodes in words.
        nodes: Numbers of the attacked nodes.
        mode: Allowed changes: "flip", "add" or "remove".
        seed: Seed of all random choices.
        fit: Function that trains the model, for attacks that train it repeatedly.
    """

    data: Data
    attack: str
    settings: dict[str, Any]
    budget: int | None
    victims: str
    nodes: Tensor
    mode: str
    seed: int
    fit: Fit

    def run(self, scores: Scores, partial: Path, *, resume: bool) -> Flips:
        """Return the flips; `partial` is the file that holds the flips of an interrupted Metattack."""
        attack = self.make()
        if isinstance(attack, robustness.attacks.Metattack):
            return self._in_steps(attack, partial, resume=resume)
        limits: dict[str, Any] = {
            "nodes": self.nodes,
            "budget": self.budget,
            "rules": robustness.attacks.Rules(mode=self.mode),
        }
        if attack.attacks_training:
            scores = self._training(attack)
        with working(f"Attacking with {self.attack}"):
            return attack(scores, self.data, seed=self.seed, **limits)

    def _training(self, attack: EdgeAttack) -> Scores:
        """Return training and prediction as one function of the graph."""
        model = getattr(self.fit, "model", None)
        if attack.needs_gradient:
            return robustness.attacks.training_scores(model, self.data, seed=self.seed)
        own = None if model is None else model.through_training(self.data, seed=self.seed)
        return own or robustness.attacks.retraining_scores(self.fit, self.data, seed=self.seed)

    def test_accuracies(self, scores: Scores, flips: Flips) -> dict[str, float]:
        """Return the test accuracies in percent: without flips, with flips, and after training with flips."""
        attacked = flips.apply(self.data)
        cases = {
            "clean": (scores, self.data),
            "evasion": (scores, attacked),
            "poisoning": (self.fit(attacked, self.seed), attacked),
        }
        tested = self.data.test_mask
        accuracy = robustness.auditing._metrics.METRICS["accuracy"]
        with torch.no_grad():
            return {
                case: accuracy(judged(data.x, data.edge_index, data.edge_weight)[tested], data.y[tested])
                for case, (judged, data) in cases.items()
            }

    def manifest(self, flips: Flips, *, model: str) -> dict[str, Any]:
        """Return what is stored beside the flips."""
        known: dict[str, Any] = {"attack": self.attack, "budget": self.budget, "seed": self.seed}
        found = robustness.attacks.make_manifest(
            self.data, flips, settings=self.settings, model=model, **known
        )
        return {**found, "mode": self.mode, "victims": self.victims}

    def make(self) -> EdgeAttack:
        """Build the attack."""
        settings = dict(self.settings)
        if self.attack == "min-max":
            settings["refit"] = lambda graph: self.fit(graph, self.seed)
        try:
            return robustness.attacks.make_attack(self.attack, **settings)
        except TypeError as error:  # a setting that the attack does not have
            raise ValueError(f"--attack-setting: {error}") from error

    def _in_steps(self, attack: Metattack, partial: Path, *, resume: bool) -> Flips:
        budget = self.budget or 0
        state = self._stored(partial) if resume else None
        done = 0 if state is None else len(state["flips"])
        if done:
            say(f"Resuming from {done:,} flips in {partial}.")
        limits: dict[str, Any] = {
            "nodes": self.nodes,
            "budget": budget,
            "rules": robustness.attacks.Rules(mode=self.mode),
        }
        steps = attack.steps(self.data, seed=self.seed, start=state, **limits)
        with counting(math.ceil((budget - done) / attack.flips_per_step)) as begin:
            begin(f"metattack, {done:,} of {budget:,} flips")
            for state in steps:
                self._store(partial, state)
                begin(f"metattack, {len(state['flips']):,} of {budget:,} flips")
        return (
            robustness.attacks.Flips(torch.empty(2, 0, dtype=torch.int64))
            if state is None
            else robustness.attacks._metattack.flips_of(state)
        )

    def _stored(self, partial: Path) -> dict[str, Any] | None:
        if not partial.exists():
            return None
        try:
            stored = json.loads(partial.read_text(encoding="utf-8"))
            same, state = stored["request"] == self._fingerprint(), stored["state"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{partial} is damaged; start again with --fresh.") from error
        if not same:
            raise ValueError(f"{partial} belongs to another attack; start again with --fresh.")
        found: dict[str, Any] = state
        return found

    def _store(self, partial: Path, state: dict[str, Any]) -> None:
        write_text(partial, json.dumps({"request": self._fingerprint(), "state": state}))

    def _fingerprint(self) -> dict[str, Any]:
        """Return what an interrupted attack and the attack that resumes it must have in common."""
        digest = hashlib.sha256(robustness.attacks._storage.edges_checksum(self.data).encode())
        for values in (self.data.x, self.data.y, self.data.train_mask, self.nodes):
            digest.update(values.contiguous().numpy().tobytes())
        options = {"settings": self.settings, "budget": self.budget, "mode": self.mode, "seed": self.seed}
        return {"attack": self.attack, **options, "graph": digest.hexdigest()}


def _read_budget(data: Data, attack: str, rate: float | None, budget: int | None) -> int | None:
    if rate is not None and budget is not None:
        raise ValueError("Use either --rate or --budget, not both.")
    if attack == "nettack":
        if rate is not None:
            raise ValueError("--rate: Nettack has a budget per target; use --budget or nothing.")
        return budget
    if rate is not None:
        if not 0 < rate <= 1:
            raise ValueError(f"--rate must be a share of the edges in (0, 1], got {rate!r}.")
        return max(1, round(rate * len(pairs.encode_pairs(data.edge_index, None)[0])))
    if budget is None:
        raise ValueError("Give a budget: --rate (share of the edges) or --budget (number of edges).")
    return budget


def _read_victims(data: Data, text: str, *, need_labels: bool) -> Tensor:
    """Return the numbers of the attacked nodes; a group is limited to labelled nodes if labels are needed."""
    groups = {"test": data.test_mask, "all-unlabelled": ~data.train_mask}
    if text in groups:
        return torch.nonzero(groups[text] & ((data.y >= 0) | (not need_labels))).flatten()
    try:
        return torch.tensor(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        raise ValueError(f"--victims must be test, all-unlabelled or node numbers, got {text!r}.") from None


def _check_out(out: Path) -> None:
    if out.suffix.lower() != ".npz":
        raise ValueError(f"--out must end in .npz, got {str(out)!r}.")
    check_file(out)
