"""Attacks that change features or add nodes, on models that resist attacks on edges.

    python benchmarks/feature_attacks.py run [--output FILE] [--models "ridge;student"] [--graphs cora-prognn]
    python benchmarks/feature_attacks.py clean [--output FILE] [--splits 5]
    python benchmarks/feature_attacks.py draw

`run` adds one line per finished attack to a CSV file and leaves out what is there already, so it can be
stopped and started again at any time; `clean` adds the accuracy without an attack, one line per split.
`draw` prints both as tables. Needs the data sets (GADC_DATA or the user cache).

Splits are those of `frontier.py`, and so are the models. Each model is trained on the clean graph of split 0;
its test nodes are attacked, and the attacker knows their labels and the model:

    one word           1 word changes at every test node, along the gradient
    features           5 words change at every test node, along the gradient in 5 steps
    features of 1 %    the same, at 1 % of the nodes, drawn by the split: the attacker controls few accounts
    injected nodes     nodes with 4 edges each join, 1 % of the nodes; their words are optimised as well
    edges              flips of 5 % of the edges, found by PRBCD through the model
    edges, features    the flips of "edges", then 5 words at every test node on the flipped graph
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from frontier import GRAPHS, PRBCD, ROWS, append, graph_of
from torch_geometric.data import Data

from gadc.models._training.loop import accuracy
from gadc.robustness.attacks import FeatureAttack, Injection, Scores, make_attack
from gadc.robustness.auditing import probe_gradient

CHOSEN = ("mlp", "ridge", "robust-ridge", "student", "trust-gate", "gadc IV+, γ = 0.6")
WORDS, FEATURE_STEPS, SHARE_OF_NODES, SHARE_OF_EDGES = 5, 5, 0.01, 0.05
ATTACKS = ("one word", "features", "features of 1 %", "injected nodes", "edges", "edges, features")
COLUMNS = ("graph", "split", "model", "attack", "accuracy", "seconds")
CLEAN = "none"
SPLIT = 0
HERE = Path(__file__).parent


class Victim:
    """One trained model, and the graphs that attacks on it produce."""

    def __init__(self, label: str, graph: str) -> None:
        self.data = graph_of(graph, SPLIT)
        self.nodes = torch.nonzero(self.data.test_mask).squeeze(1)
        self.scores: Scores = ROWS[label].make().fit(self.data, seed=SPLIT).scores
        self.reads_edges = probe_gradient(self.scores, self.data, self.nodes).edges_matter
        self.flipped: Data | None = None

    def attacked(self, attack: str) -> Data:
        """Return the graph after an attack."""
        if attack in ("one word", "features"):
            return self.with_changed_words(self.data, words=1 if attack == "one word" else WORDS)
        if attack == "features of 1 %":
            generator = torch.Generator().manual_seed(SPLIT)
            count = round(SHARE_OF_NODES * self.data.num_nodes)
            return self.with_changed_words(
                self.data, torch.randperm(self.data.num_nodes, generator=generator)[:count]
            )
        if attack == "injected nodes":
            if not self.reads_edges:  # scores pass no gradient to edges, and none of these could matter
                return self.data
            budget = round(SHARE_OF_NODES * self.data.num_nodes)
            inject = Injection(num_feature_steps=FEATURE_STEPS)
            return inject(self.scores, self.data, nodes=self.nodes, budget=budget, seed=SPLIT)
        flipped = self.with_flipped_edges()
        return flipped if attack == "edges" else self.with_changed_words(flipped)

    def with_flipped_edges(self) -> Data:
        """Flip edges once for both attacks that do."""
        if self.flipped is None:
            budget = round(SHARE_OF_EDGES * self.data.num_edges / 2)
            found = None
            if self.reads_edges:
                prbcd = make_attack("prbcd", **PRBCD)
                found = prbcd(self.scores, self.data, nodes=self.nodes, budget=budget, seed=SPLIT)
            self.flipped = self.data if found is None else found.apply(self.data)
        return self.flipped

    def with_changed_words(self, data: Data, rows: torch.Tensor | None = None, *, words: int = WORDS) -> Data:
        """Change words at some nodes, the test nodes by default."""
        attack = FeatureAttack(num_steps=FEATURE_STEPS)
        rows = self.nodes if rows is None else rows
        changed = data.clone()
        changed.x = attack(self.scores, data, nodes=self.nodes, budget=words, rows=rows)
        return changed

    def test(self, data: Data) -> float:
        """Return the accuracy at the test nodes in percent."""
        with torch.no_grad():
            out = self.scores(data.x, data.edge_index, data.edge_weight)
        return accuracy(out[self.nodes], data.y[self.nodes])


def lines(path: Path) -> list[dict[str, str]]:
    """Read what was measured so far."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def missing(options: argparse.Namespace, split: int, attacks: tuple[str, ...]) -> Iterator[tuple]:
    """List the graph, model and attacks of what is to be measured still."""
    done = {(one["graph"], one["split"], one["model"], one["attack"]) for one in lines(options.output)}
    for graph in options.graphs.split(";"):
        for label in options.models.split(";"):
            left = [one for one in attacks if (graph, str(split), label, one) not in done]
            if left:
                yield graph, label, left


def run(options: argparse.Namespace) -> None:
    for graph, label, attacks in missing(options, SPLIT, ATTACKS):
        victim = Victim(label, graph)
        for attack in attacks:
            start = time.perf_counter()
            found = round(victim.test(victim.attacked(attack)), 2)
            seconds = round(time.perf_counter() - start, 1)
            base = {"graph": graph, "split": SPLIT, "model": label, "attack": attack}
            append(options.output, {**base, "accuracy": found, "seconds": seconds}, COLUMNS)


def clean(options: argparse.Namespace) -> None:
    for split in range(options.splits):
        for graph, label, _ in missing(options, split, (CLEAN,)):
            start = time.perf_counter()
            data = graph_of(graph, split)
            logits = ROWS[label].make().fit(data, seed=split).logits
            found = round(accuracy(logits[data.test_mask], data.y[data.test_mask]), 2)
            seconds = round(time.perf_counter() - start, 1)
            base = {"graph": graph, "split": split, "model": label, "attack": CLEAN}
            append(options.output, {**base, "accuracy": found, "seconds": seconds}, COLUMNS)


def draw(options: argparse.Namespace) -> None:
    """Print one table per graph: accuracy without an attack, its mean over splits, and after each attack."""
    found = lines(options.output)
    for graph in options.graphs.split(";"):
        print(f"\n{graph}\n\n| model | clean | " + " | ".join(ATTACKS) + " | clean, all splits |")
        print("| --- " * (len(ATTACKS) + 3) + "|")
        for label in options.models.split(";"):
            own = [one for one in found if one["graph"] == graph and one["model"] == label]
            first = {one["attack"]: one["accuracy"] for one in own if one["split"] == str(SPLIT)}
            every = [float(one["accuracy"]) for one in own if one["attack"] == CLEAN]
            mean = f"{statistics.mean(every):.1f} ({len(every)} splits)" if every else "–"
            cells = [f"{float(first[one]):.1f}" if one in first else "–" for one in (CLEAN, *ATTACKS)]
            print(f"| {label} | " + " | ".join([*cells, mean]) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands: dict[str, Callable[[argparse.Namespace], None]] = {"run": run, "clean": clean, "draw": draw}
    parser.add_argument("command", choices=commands)
    parser.add_argument("--output", type=Path, default=HERE / "feature_attacks.csv")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--models", default=";".join(CHOSEN), help="rows of frontier.py, with semicolons")
    parser.add_argument("--graphs", default=";".join(GRAPHS), help="names of data sets, with semicolons")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    commands[options.command](options)


if __name__ == "__main__":
    main()
