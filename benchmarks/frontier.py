"""Clean against worst-case accuracy of many models: transductive and inductive evasion, poisoning.

    python benchmarks/frontier.py run [--output FILE] [--splits 1] [--rates 0.05,0.2] [--models 'gcn;ridge']
    python benchmarks/frontier.py draw [--output FILE] [--page docs/evidence/robustness.md]

`run` adds one line per finished attack to a CSV file and leaves out what is there already, so it can be
stopped and started again at any time; cheap models and cheap attacks come first. `draw` makes the pictures
and fills the tables of the page. Needs the data sets (GADC_DATA or the user cache).

Split s of a graph is `load(name, split="adaptive", seed=s)`: 10 % of the nodes train, 10 % validate, 80 %
test. Every training and attack has seed s. A rate is a share of the edges, and for arriving nodes (a tenth of
all nodes, test nodes drawn by s) a share of the edges that touch them. The attacker knows all labels.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from frontier_page import draw
from torch_geometric.data import Data

from gadc.datasets import load
from gadc.diffusion import Plain
from gadc.models import MODELS, Model, make_model
from gadc.models._closed_form import closed_form_scores
from gadc.models._training.loop import accuracy
from gadc.robustness.attacks import Flips, Scores, make_attack, stand_in_scores
from gadc.robustness.auditing import Protocol, inductive, probe_gradient, transductive

GRAPHS = ("cora-prognn", "citeseer-prognn")
COLUMNS = (
    "graph", "split", "model", "threat", "rate", "attack", "accuracy", "clean", "reads_edges", "budget",
    "flips", "seconds",
)  # fmt: skip
EVASION = ("PRBCD", "PRBCD, scaled margin", "PRBCD through a softer twin", "EvA")
HERE = Path(__file__).parent
PRBCD = {"num_steps": 40, "resampling_steps": 30, "block_size": 50_000, "num_samples": 5}
POISON = {"num_steps": 40, "num_samples": 5}
SCALED = {"loss": "scaled-margin"}
EVA = {"num_generations": 40, "population": 24}
PAPER = {"lr": 0.01, "weight_decay": 5e-4, "epochs": 1000, "patience": 50, "selection": "val-loss"}
LAST = {"series": "last", "self_loops": 1.0, "dropout": 0.5, **PAPER}
ANCHORED = {**LAST, "norm": "rw", "num_steps": 3, "neighbors": 20, "lr": 0.05, "patience": 30}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One model of the frontier.

    Attributes:
        model: Name in `gadc.models`.
        settings: Its settings.
        attacked: Settings that differ in the twin that is attacked, where the scores have no gradient.
        softer: Settings that differ in a twin that is attacked as well, because its gradient says more.
        own: Whether its training is attacked by gradient; it is too slow for most graph networks.
    """

    model: str
    settings: dict[str, Any] = field(default_factory=dict)
    attacked: dict[str, Any] = field(default_factory=dict)
    softer: dict[str, Any] = field(default_factory=dict)
    own: bool = False

    def make(self, **changes: Any) -> Model:
        """Build the model with changed settings."""
        return make_model(self.model, **{**self.settings, **changes})


ROWS = {  # cheapest first
    "mlp": Row(model="mlp", settings={"dropout": 0.5}),
    "ridge": Row(model="ridge", own=True),
    "ridge, anchors": Row(model="ridge", settings={"neighbors": 20}, own=True),
    "robust-ridge": Row(model="robust-ridge", own=True),
    "robust-ridge, poisoning": Row(model="robust-ridge", settings={"goal": "poisoning"}, own=True),
    "student": Row(model="student", own=True),
    "trust-gate": Row(model="trust-gate", softer={"steepness": 0.3}, own=True),
    "gadc IV+, anchors alone": Row(
        model="gadc",
        settings={**ANCHORED, "variant": "IV+", "anchor": 1000.0, "self_loops": 1000.0},
        own=True,
    ),
    "gadc IV+, γ = 0.6": Row(model="gadc", settings={**ANCHORED, "variant": "IV+", "anchor": 0.6}, own=True),
    "gadc IV+, γ = 3": Row(model="gadc", settings={**ANCHORED, "variant": "IV+", "anchor": 3.0}, own=True),
    "gadc IV": Row(model="gadc", settings={**LAST, "variant": "IV", "num_steps": 2}, own=True),
    "gadc plain": Row(model="gadc", settings={**PAPER, "variant": "plain", "lam": 9.0, "lr": 0.05}, own=True),
    "gadc I": Row(model="gadc", settings={**PAPER, "variant": "I", "lam": 9.0, "lr": 0.05}, own=True),
    "gadc II": Row(model="gadc", settings={**PAPER, "variant": "II", "lam": 9.0, "lr": 0.05}, own=True),
    "s2gc": Row(model="s2gc", settings={**PAPER, "lr": 0.05}, own=True),
    "gcn": Row(model="gcn"),
    "appnp": Row(model="appnp"),
    "evennet": Row(model="evennet", own=True),
    "gprgnn": Row(model="gprgnn"),
    "gcn-jaccard": Row(model="gcn-jaccard"),
    "gcn-svd": Row(model="gcn-svd", attacked={"relaxed": True}),
    "robust-gcn": Row(model="robust-gcn"),
    "rung": Row(model="rung"),
    "gnnguard": Row(model="gnnguard"),
    "adversarial-gprgnn": Row(model="adversarial-gprgnn"),
    "soft-median-gdc": Row(model="soft-median-gdc", settings={"weight_decay": 1e-3}),
}


def even_scores(data: Data) -> Scores:
    """Return ridge regression on hops 0, 2 and 4: a stand-in for filters that ignore odd hops."""

    def diffusion(edge_index: torch.Tensor, edge_weight: torch.Tensor | None) -> Any:
        graph = Plain(self_loops=0.0)(data.x, edge_index, edge_weight)

        def diffuse(rows: torch.Tensor) -> torch.Tensor:
            second = graph @ (graph @ rows)
            return 0.3 * rows + second + graph @ (graph @ second)

        return diffuse

    return closed_form_scores(data, data.x, diffusion)


STAND_IN = {
    "PGD through a ridge stand-in": (stand_in_scores, POISON),
    "PGD through a ridge stand-in, scaled margin": (stand_in_scores, {**POISON, **SCALED}),
    "PGD through an even stand-in": (even_scores, {**POISON, **SCALED}),
}


@lru_cache(maxsize=4)
def graph_of(name: str, split: int) -> Data:
    return load(name, split="adaptive", seed=split)


@lru_cache(maxsize=8)
def protocol_of(name: str, split: int, threat: str) -> Protocol:
    data = graph_of(name, split)
    return inductive(data, seed=split) if threat == "inductive" else transductive(data)


@lru_cache(maxsize=4)
def surrogate(name: str, split: int, threat: str) -> Scores:
    return make_model("gcn").fit(protocol_of(name, split, threat).seen, seed=split).scores


@lru_cache(maxsize=64)
def shared_flips(name: str, split: int, threat: str, rate: float, attack: str) -> Flips:
    """Find the flips that do not depend on the attacked model once for all models."""
    protocol = protocol_of(name, split, threat)
    if attack in STAND_IN:
        stand_in, settings = STAND_IN[attack]
        return find("poison-pgd", stand_in(protocol.data), protocol, rate, split, settings)
    return find("prbcd", surrogate(name, split, threat), protocol, rate, split, PRBCD)


def find(
    attack: str, scores: Scores, protocol: Protocol, rate: float, seed: int, settings: dict[str, Any]
) -> Flips:
    budget = max(1, round(rate * protocol.num_edges))
    asked = {"nodes": protocol.nodes, "budget": budget, "seed": seed, "rules": protocol.rules}
    return make_attack(attack, **settings)(scores, protocol.data, **asked)


class Trained:
    """One row trained under one protocol, and the attacks on it."""

    def __init__(self, row: Row, name: str, split: int, threat: str) -> None:
        self.row, self.key, self.split = row, (name, split, threat), split
        self.protocol = protocol_of(*self.key)
        self.scores = row.make().fit(self.protocol.seen, seed=split).scores
        self.clean = self.test(self.scores, self.protocol.data)
        data = self.protocol.data
        self.reads_edges = probe_gradient(self.scores, data, self.protocol.nodes).edges_matter

    def test(self, scores: Scores, data: Data) -> float:
        """Return the accuracy at the attacked nodes in percent."""
        with torch.no_grad():
            out = scores(data.x, data.edge_index, data.edge_weight)
        return accuracy(out[self.protocol.nodes], data.y[self.protocol.nodes])

    def flips(self, attack: str, rate: float) -> Flips:
        """Find the flips of an attack."""
        if attack in STAND_IN or attack == "PRBCD through a GCN":
            return shared_flips(*self.key, rate, attack)
        data, seed = self.protocol.data, self.split
        if attack == "PGD through training":
            scores = self.row.make().through_training(data, seed=seed)
            if scores is None:
                raise ValueError("the model has no training that can be differentiated")
            return find("poison-pgd", scores, self.protocol, rate, seed, POISON)
        if attack == "EvA":
            return find("eva", self.scores, self.protocol, rate, seed, EVA)
        scores = self.scores
        changes = self.row.softer if attack == "PRBCD through a softer twin" else self.row.attacked
        if changes:
            scores = self.row.make(**changes).fit(self.protocol.seen, seed=seed).scores
        settings = PRBCD if attack == "PRBCD" else {**PRBCD, **SCALED}
        return find("prbcd", scores, self.protocol, rate, seed, settings)

    def after(self, flips: Flips, threat: str) -> float:
        """Return the accuracy after the flips; poisoning trains again."""
        changed = flips.apply(self.protocol.data)
        poisoned = threat == "poisoning"
        scores = self.row.make().fit(changed, seed=self.split).scores if poisoned else self.scores
        return self.test(scores, changed)


def jobs(
    rows: dict[str, Row], graphs: list[str], rates: list[float], splits: int, stages: list[int]
) -> Iterator[tuple]:
    """List what is to be run: cheap attacks on all models first, then the slower ones."""
    cheap = {
        "transductive": {
            "PGD through a ridge stand-in": ("poisoning",),
            "PGD through a ridge stand-in, scaled margin": ("poisoning",),
            "PGD through an even stand-in": ("poisoning",),
            "PRBCD through a GCN": ("evasion", "poisoning"),
            "PRBCD, scaled margin": ("evasion", "poisoning"),
        },
        "inductive": {
            "PRBCD through a GCN": ("inductive",),
            "PRBCD, scaled margin": ("inductive",),
            "PRBCD through a softer twin": ("inductive",),
        },
    }
    second = {
        "transductive": {"PRBCD": ("evasion", "poisoning")},
        "inductive": {"PRBCD": ("inductive",)},
    }
    own = {"transductive": {"PGD through training": ("poisoning",)}}
    search = {"inductive": {"EvA": ("inductive",)}}
    for split in range(splits):
        for stage, protocols in enumerate((cheap, second, own, search)):
            for name in graphs:
                for label, row in rows.items():
                    if stage in stages and (stage != 2 or row.own):
                        yield from (
                            (name, split, label, protocol, attacks, rates)
                            for protocol, attacks in protocols.items()
                        )


def run(options: argparse.Namespace) -> None:
    rates = [float(part) for part in options.rates.split(",")]
    chosen = options.models.split(";") if options.models else list(ROWS)
    rows = {label: row for label, row in ROWS.items() if label in chosen and row.model in MODELS}
    done = set()
    if options.output.exists():
        with options.output.open(encoding="utf-8", newline="") as file:
            done = {identity(line) for line in csv.DictReader(file)}
    stages = [int(part) for part in options.stages.split(",")]
    for name, split, label, protocol, attacks, asked in jobs(
        rows, options.graphs.split(","), rates, options.splits, stages
    ):
        trained: Trained | None = None
        for attack, threats in attacks.items():
            for rate in asked:
                base = {"graph": name, "split": split, "model": label, "rate": rate, "attack": attack}
                missing = [one for one in threats if identity({**base, "threat": one}) not in done]
                if not missing or (attack == "PRBCD through a softer twin" and not rows[label].softer):
                    continue
                start = time.perf_counter()
                try:
                    trained = trained or Trained(rows[label], name, split, protocol)
                    if attack in EVASION and not trained.reads_edges:
                        continue  # no edge moves it after its training
                    flips = trained.flips(attack, rate)
                    found = {threat: trained.after(flips, threat) for threat in missing}
                except Exception as error:  # one model that fails must not lose the others
                    print(f"{name} {label} {attack} {rate}: {type(error).__name__}: {error}", flush=True)
                    continue
                facts = {
                    "clean": round(trained.clean, 2),
                    "reads_edges": int(trained.reads_edges),
                    "budget": max(1, round(rate * trained.protocol.num_edges)),
                    "flips": len(flips),
                    "seconds": round(time.perf_counter() - start, 1),
                }
                for threat, value in found.items():
                    append(options.output, {**base, "threat": threat, "accuracy": round(value, 2), **facts})
                print(name, split, label, attack, rate, found, facts["seconds"], flush=True)


def identity(line: dict[str, Any]) -> tuple[str, ...]:
    keys = ("graph", "split", "model", "threat", "attack")
    return (*(str(line[key]) for key in keys), f"{float(line['rate']):g}")


def append(path: Path, line: dict[str, Any], columns: tuple[str, ...] = COLUMNS) -> None:
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["run", "draw"])
    parser.add_argument("--output", type=Path, default=HERE / "frontier.csv")
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--rates", default="0.05,0.2")
    parser.add_argument("--models", help="rows, separated by semicolons; all by default")
    parser.add_argument(
        "--stages", default="0,1,2,3", help="0: cheap attacks, 1: another loss, 2: own training, 3: EvA"
    )
    parser.add_argument("--page", type=Path, default=HERE.parent / "docs" / "evidence" / "robustness.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    commands: dict[str, Callable[[], None]] = {
        "run": lambda: run(options),
        "draw": lambda: draw(options.output, options.page),
    }
    commands[options.command]()


if __name__ == "__main__":
    main()
