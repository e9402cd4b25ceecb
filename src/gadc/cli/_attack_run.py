"""One attack from the command line: what was asked, checked, and Metattack in steps that can be resumed."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.files import write_text
from gadc._base.pairs import encode_pairs
from gadc._base.validation import check_choice
from gadc.cli._model_option import read_settings
from gadc.cli._output import counting, say, working
from gadc.models._training.loop import accuracy
from gadc.robustness.attacks import ATTACKS, EdgeAttack, Flips, Metattack, Rules, Scores, make_attack
from gadc.robustness.attacks._metattack import flips_of
from gadc.robustness.attacks._storage import edges_checksum
from gadc.robustness.auditing import Fit


@dataclass(frozen=True, eq=False, kw_only=True)
class AttackRequest:
    """What was asked.

    Attributes:
        data: The clean graph.
        attack: Name of the attack.
        settings: Its settings.
        budget: Pairs to flip; for Nettack those of each target, None for its own rule.
        victims: The attacked nodes in words.
        nodes: Their numbers.
        mode: What is allowed.
        seed: Of everything random.
        fit: Trains the defender, for attacks that do so on their way.
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

    @classmethod
    def of(
        cls,
        data: Data,
        *,
        attack: str,
        settings: Sequence[str] | None,
        rate: float | None,
        budget: int | None,
        victims: str | None,
        mode: str,
        seed: int,
        fit: Fit,
    ) -> AttackRequest:
        """Read the options."""
        check_choice("--attack", attack, "the name", tuple(ATTACKS))
        victims = victims or ("all-unlabelled" if attack == "metattack" else "test")
        request = cls(
            data=data,
            attack=attack,
            settings=read_settings(settings, "--attack-setting"),
            budget=_read_budget(data, attack, rate, budget),
            victims=victims,
            nodes=_read_victims(data, victims),
            mode=Rules(mode=mode).mode,
            seed=seed,
            fit=fit,
        )
        request.make()  # refuses wrong settings before the training
        return request

    def run(self, scores: Scores, partial: Path, *, resume: bool) -> Flips:
        """Choose the flips; `partial` keeps those of an interrupted Metattack."""
        attack = self.make()
        if isinstance(attack, Metattack):
            return self._in_steps(attack, partial, resume=resume)
        asked: dict[str, Any] = {"nodes": self.nodes, "budget": self.budget, "rules": Rules(mode=self.mode)}
        with working(f"Attacking by {self.attack}"):
            return attack(scores, self.data, seed=self.seed, **asked)

    def test_accuracies(self, scores: Scores, flips: Flips) -> dict[str, float]:
        """Accuracy without and with the flips, and of a defender trained again on them, in percent."""
        attacked = flips.apply(self.data)
        cases = {
            "clean": (scores, self.data),
            "evasion": (scores, attacked),
            "poisoning": (self.fit(attacked, self.seed), attacked),
        }
        tested = self.data.test_mask
        with torch.no_grad():
            return {
                case: accuracy(judged(data.x, data.edge_index, data.edge_weight)[tested], data.y[tested])
                for case, (judged, data) in cases.items()
            }

    def make(self) -> EdgeAttack:
        """The attack itself."""
        settings = dict(self.settings)
        if self.attack == "min-max":
            settings["refit"] = lambda graph: self.fit(graph, self.seed)
        try:
            return make_attack(self.attack, **settings)
        except TypeError as error:  # a setting that the attack does not have
            raise ValueError(f"--attack-setting: {error}") from error

    def _in_steps(self, attack: Metattack, partial: Path, *, resume: bool) -> Flips:
        budget = self.budget or 0
        state = self._stored(partial) if resume else None
        done = 0 if state is None else len(state["flips"])
        if done:
            say(f"Going on from {done:,} flips in {partial}.")
        asked: dict[str, Any] = {"nodes": self.nodes, "budget": budget, "rules": Rules(mode=self.mode)}
        steps = attack.steps(self.data, seed=self.seed, start=state, **asked)
        with counting(math.ceil((budget - done) / attack.flips_per_step)) as tell:
            tell(f"metattack, {done:,} of {budget:,} flips")
            for state in steps:
                self._store(partial, state)
                tell(f"metattack, {len(state['flips']):,} of {budget:,} flips")
        return Flips(torch.empty(2, 0, dtype=torch.int64)) if state is None else flips_of(state)

    def _stored(self, partial: Path) -> dict[str, Any] | None:
        if not partial.exists():
            return None
        try:
            stored = json.loads(partial.read_text(encoding="utf-8"))
            same, state = stored["request"] == self._fingerprint(), stored["state"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{partial} is damaged; start anew with --fresh.") from error
        if not same:
            raise ValueError(f"{partial} belongs to another attack; start anew with --fresh.")
        found: dict[str, Any] = state
        return found

    def _store(self, partial: Path, state: dict[str, Any]) -> None:
        write_text(partial, json.dumps({"request": self._fingerprint(), "state": state}))

    def _fingerprint(self) -> dict[str, Any]:
        """What an interrupted attack must have in common with the one that goes on."""
        digest = hashlib.sha256(edges_checksum(self.data).encode())
        for values in (self.data.x, self.data.y, self.data.train_mask, self.nodes):
            digest.update(values.contiguous().numpy().tobytes())
        asked = {"settings": self.settings, "budget": self.budget, "mode": self.mode, "seed": self.seed}
        return {"attack": self.attack, **asked, "graph": digest.hexdigest()}


def _read_budget(data: Data, attack: str, rate: float | None, budget: int | None) -> int | None:
    if rate is not None and budget is not None:
        raise ValueError("--rate and --budget are two ways to say one thing; give one of them.")
    if attack == "nettack":
        if rate is not None:
            raise ValueError("--rate: Nettack has a budget for each target; give --budget or nothing.")
        return budget
    if rate is not None:
        if not 0 < rate <= 1:
            raise ValueError(f"--rate must be a share of the edges in (0, 1], got {rate!r}.")
        return max(1, round(rate * len(encode_pairs(data.edge_index, None)[0])))
    if budget is None:
        raise ValueError("give a budget: --rate as a share of the edges, or --budget in pairs.")
    return budget


def _read_victims(data: Data, text: str) -> Tensor:
    if text == "test":
        return torch.nonzero(data.test_mask).flatten()
    if text == "all-unlabelled":
        return torch.nonzero(~data.train_mask).flatten()
    try:
        return torch.tensor(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        raise ValueError(
            f"--victims must be test, all-unlabelled or numbers of nodes, got {text!r}."
        ) from None
