"""The audit itself: train, attack over a range of budgets, train again, compare."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from statistics import fmean
from typing import Any, TypeAlias

import torch
from torch_geometric.data import Data

from gadc._base.pairs import encode_pairs
from gadc._base.validation import check_number
from gadc.models import Model, make_model
from gadc.models._training.loop import accuracy
from gadc.robustness.attacks import DICE, FGA, Scores
from gadc.robustness.audit._battery import BATTERY, Entry
from gadc.robustness.audit._checks import check_all
from gadc.robustness.audit._findings import Finding
from gadc.robustness.audit._gradient import GradientProbe, probe_gradient
from gadc.robustness.audit._lawful import is_lawful
from gadc.robustness.audit._result import AuditResult

Fit: TypeAlias = Callable[[Data, int], Scores]
UNLIMITED = 10  # times as many flips as there are edges
RATES = (0.05, 0.1, 0.2)
_CONTROLS = 4  # stages of a seed beside its attacks: training, gradient, unlimited budget, MLP


def fit_of(model: Model) -> Fit:
    """A model of ours as an audit takes it; one's own is a function that trains and gives a module."""
    return lambda data, seed: model.fit(data, seed=seed).scores


def count_stages(rates: Sequence[float], battery: Sequence[Entry], seeds: Sequence[int]) -> int:
    """How often an audit calls `progress`, at most."""
    return len(seeds) * (len(battery) * len(rates) + _CONTROLS)


def audit(
    fit: Fit,
    data: Data | Callable[[int], Data],
    *,
    rates: Sequence[float] = RATES,
    battery: Sequence[Entry] = BATTERY,
    seeds: Sequence[int] = (0,),
    poisoning: bool = True,
    progress: Callable[[str], None] | None = None,
) -> AuditResult:
    """Attack a defender with everything there is and say what is left of it.

    The attacker knows the model and the labels of the test nodes, which is the worst case (Metattack knows
    those of the training nodes alone). Validation labels choose the epoch and are not attacked.

    Args:
        fit: `(data, seed) -> (x, edge_index, edge_weight) -> scores`; `fit_of` makes one of a model.
        data: The clean graph, undirected, with `x`, `y` and the three masks; or a function of the seed that
            gives it, for another split each time.
        rates: Budgets as shares of the number of edges.
        battery: The attacks.
        seeds: Of training and attacks.
        poisoning: Whether the defender is trained again on every attacked graph.
        progress: Told what begins.
    """
    for rate in rates:
        check_number("audit", rate, "each of rates", strict=True)
    tell = progress or (lambda what: None)
    failures: dict[str, str] = {}
    findings: list[Finding] = []
    rounds = [_Round(fit, data if isinstance(data, Data) else data(seed), seed, tell) for seed in seeds]
    for one in rounds:
        findings += one.findings(rates, battery, poisoning=poisoning, failures=failures)
    figures = {
        "clean": tuple(one.clean for one in rounds),
        "unlimited": tuple(one.unlimited() for one in rounds),
        "graph_free": tuple(one.graph_free() for one in rounds),
    }
    trivial = fmean(one.trivial for one in rounds)
    tested = min(len(one.nodes) for one in rounds)
    probes = [one.probe() for one in rounds]
    checks = check_all(findings, probes=probes, trivial=trivial, tested=tested, **figures)
    return AuditResult(
        **figures,
        trivial=trivial,
        tested=tested,
        findings=tuple(findings),
        failures=failures,
        checks=checks,
    )


class _Round:
    """One seed: the trained defender and what becomes of it."""

    def __init__(self, fit: Fit, data: Data, seed: int, tell: Callable[[str], None]) -> None:
        self.fit, self.data, self.seed, self.tell = fit, data, seed, tell
        self.nodes = torch.nonzero(data.test_mask).flatten()
        if not len(self.nodes):
            raise ValueError("audit: test_mask must name at least one node, got none.")
        self.pairs = len(encode_pairs(data.edge_index, None)[0])
        self._tell("training")
        self.scores = fit(data, seed)
        self.clean = self._accuracy(self.scores, data)

    @property
    def trivial(self) -> float:
        """Share of the largest class."""
        return 100.0 * float(torch.bincount(self.data.y[self.nodes]).max()) / len(self.nodes)

    @cached_property
    def surrogate(self) -> Scores:
        """The GCN that transfer attacks go through."""
        return make_model("gcn").fit(self.data, seed=self.seed).scores

    def findings(
        self, rates: Sequence[float], battery: Sequence[Entry], *, poisoning: bool, failures: dict[str, str]
    ) -> Iterator[Finding]:
        """What each attack does at each budget; one that cannot be run is recorded."""
        for entry in battery:
            if entry.max_nodes is not None and self.data.num_nodes > entry.max_nodes:
                failures[entry.name] = f"left out: more than {entry.max_nodes:,} nodes"
                continue
            for rate in rates:
                self._tell(f"{entry.name}, {rate:g} of the edges")
                try:
                    yield self._attack(entry, rate, poisoning=poisoning)
                except ValueError as error:
                    failures[entry.name] = str(error)
                    break

    def unlimited(self) -> float:
        """Accuracy under far too large a budget, spent by the gradient; by labels where there is none."""
        self._tell("unlimited budget")
        asked: dict[str, Any] = {"nodes": self.nodes, "budget": UNLIMITED * self.pairs, "seed": self.seed}
        try:
            flips = FGA(flips_per_step=None)(self.scores, self.data, **asked)
        except ValueError:  # which the probe of the gradient reports
            flips = DICE()(None, self.data, **asked)
        return self._accuracy(self.scores, flips.apply(self.data))

    def graph_free(self) -> float:
        """An MLP on the features alone."""
        self._tell("MLP without the graph")
        fitted = make_model("mlp", dropout=0.5).fit(self.data, seed=self.seed)
        return accuracy(fitted.logits[self.nodes], self.data.y[self.nodes])

    def probe(self) -> GradientProbe:
        """Whether attacks are told the truth."""
        self._tell("gradient")
        return probe_gradient(self.scores, self.data, self.nodes, seed=self.seed)

    def _attack(self, entry: Entry, rate: float, *, poisoning: bool) -> Finding:
        start = time.perf_counter()
        attack, budget = entry.make(), max(1, round(rate * self.pairs))
        only_poisoning = entry.kind == "poisoning"
        target = self.surrogate if entry.kind == "transfer" else self.scores
        nodes = torch.nonzero(~self.data.train_mask).flatten() if only_poisoning else self.nodes
        flips = attack(target, self.data, nodes=nodes, budget=budget, seed=self.seed)
        attacked = flips.apply(self.data)
        retrained = self.fit(attacked, self.seed) if poisoning or only_poisoning else None
        return Finding(
            attack=entry.name,
            kind=entry.kind,
            loss=getattr(attack, "loss", None),
            rate=rate,
            budget=budget,
            flips=len(flips),
            seed=self.seed,
            evasion=None if only_poisoning else self._accuracy(self.scores, attacked),
            poisoning=None if retrained is None else self._accuracy(retrained, attacked),
            lawful=is_lawful(self.data, attacked, budget),
            seconds=round(time.perf_counter() - start, 2),
        )

    def _accuracy(self, scores: Scores, data: Data) -> float:
        with torch.no_grad():
            out = scores(data.x, data.edge_index, data.edge_weight)
        return accuracy(out[self.nodes], data.y[self.nodes])

    def _tell(self, what: str) -> None:
        self.tell(f"{what}, seed {self.seed}")
