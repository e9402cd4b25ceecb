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
from gadc.robustness.auditing._attacks import AUDIT_ATTACKS, AuditAttack
from gadc.robustness.auditing._checks import check_all
from gadc.robustness.auditing._findings import Finding
from gadc.robustness.auditing._gradient_probe import GradientProbe, probe_gradient
from gadc.robustness.auditing._result import AuditResult
from gadc.robustness.auditing._validity import is_valid_attack

Fit: TypeAlias = Callable[[Data, int], Scores]
RATES = (0.05, 0.1, 0.2)
_UNLIMITED = 10  # flips per edge under an unlimited budget
_NUM_CONTROLS = 4  # stages per seed besides the attacks: training, gradient, unlimited budget, MLP


def audit(
    model: Model | Fit,
    data: Data | Callable[[int], Data],
    *,
    rates: Sequence[float] = RATES,
    attacks: Sequence[AuditAttack] = AUDIT_ATTACKS,
    seeds: Sequence[int] = (0,),
    poisoning: bool = True,
    progress: Callable[[str], None] | None = None,
) -> AuditResult:
    """Attack a model with every attack at every budget and report the accuracy that is left.

    The attacker knows the model and the labels of the test nodes, which is the worst case (Metattack knows
    the labels of the training nodes only). Validation labels choose the epoch and are not attacked.

    Args:
        model: A model of `gadc.models`, or a function `(data, seed) -> scores` that trains a model of your
            own, where `scores` is a function (or module) `(x, edge_index, edge_weight) -> scores of all
            nodes` that passes a gradient to `edge_weight`.
        data: The clean graph, undirected, with `x`, `y` and the masks `train_mask`, `val_mask` and
            `test_mask`; or a function of the seed that returns it, for another split per seed.
        rates: Budgets as shares of the number of edges; 5, 10 and 20 % by default.
        attacks: The attacks, `AUDIT_ATTACKS` by default.
        seeds: Seeds of training and attacks; only 0 by default.
        poisoning: Whether the model is also trained again on every attacked graph (default); otherwise
            attacks of the kind "poisoning" are left out.
        progress: Function that is called with a description of each stage when it begins.

    Returns:
        The accuracies, the strongest attack of each budget, and checks that expose a broken evaluation.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> from gadc.robustness import AuditAttack, audit
        >>> data = csbm(60, homophily=0.9, seed=0)
        >>> dice = AuditAttack(name="DICE", kind="blind", attack="dice")
        >>> result = audit(make_model("s2gc", epochs=20), data, rates=[0.1], attacks=[dice], poisoning=False)
        >>> [(one.rate, one.attack) for one in result.strongest]
        [(0.1, 'DICE')]
    """
    for rate in rates:
        check_number("audit", rate, "each of rates", strict=True)
    asked = _asked(attacks, poisoning)
    defenders = [
        _Defender(fit_of(model), data if isinstance(data, Data) else data(seed), seed, progress)
        for seed in seeds
    ]
    failures: dict[str, str] = {}
    findings = [finding for one in defenders for finding in one.findings(rates, asked, poisoning, failures)]
    figures: dict[str, Any] = {
        "clean": tuple(one.clean for one in defenders),
        "unlimited": tuple(one.unlimited() for one in defenders),
        "graph_free": tuple(one.graph_free() for one in defenders),
        "trivial": fmean(one.trivial for one in defenders),
        "tested": min(len(one.nodes) for one in defenders),
    }
    checks = check_all(findings, probes=[one.probe() for one in defenders], **figures)
    return AuditResult(**figures, findings=tuple(findings), failures=failures, checks=checks)


def fit_of(model: Model | Fit) -> Fit:
    """Turn a model into a function `(data, seed) -> scores` that trains it; a function is passed through."""
    if isinstance(model, Model):
        return lambda data, seed: model.fit(data, seed=seed).scores
    return model


def count_stages(
    rates: Sequence[float], attacks: Sequence[AuditAttack], seeds: Sequence[int], *, poisoning: bool = True
) -> int:
    """Count the stages that `audit` reports to `progress`; attacks that are left out report none."""
    return len(seeds) * (len(_asked(attacks, poisoning)) * len(rates) + _NUM_CONTROLS)


def _asked(attacks: Sequence[AuditAttack], poisoning: bool) -> list[AuditAttack]:
    return [attack for attack in attacks if poisoning or attack.kind != "poisoning"]


class _Defender:
    """The model trained with one seed, and everything that is measured on it."""

    def __init__(self, fit: Fit, data: Data, seed: int, progress: Callable[[str], None] | None) -> None:
        self.fit, self.data, self.seed, self.progress = fit, data, seed, progress
        self.nodes = torch.nonzero(data.test_mask).flatten()
        if not len(self.nodes):
            raise ValueError("audit: test_mask must name at least one node, got none.")
        self.num_edges = len(encode_pairs(data.edge_index, None)[0])
        self._begin("training")
        self.scores = fit(data, seed)
        self.clean = self._accuracy(self.scores, data)

    @property
    def trivial(self) -> float:
        """Share of the largest class among the tested nodes, in percent."""
        return 100.0 * float(torch.bincount(self.data.y[self.nodes]).max()) / len(self.nodes)

    @cached_property
    def surrogate(self) -> Scores:
        """Scores of the GCN that transfer attacks use."""
        return make_model("gcn").fit(self.data, seed=self.seed).scores

    def findings(
        self, rates: Sequence[float], attacks: list[AuditAttack], poisoning: bool, failures: dict[str, str]
    ) -> Iterator[Finding]:
        """Run each attack at each rate; add the reason to `failures` for each attack that cannot be run."""
        for attack in attacks:
            if attack.max_nodes is not None and self.data.num_nodes > attack.max_nodes:
                failures[attack.name] = f"left out: more than {attack.max_nodes:,} nodes"
                continue
            for rate in rates:
                self._begin(f"{attack.name}, {rate:g} of the edges")
                try:
                    yield self._run(attack, rate, poisoning)
                except ValueError as error:
                    failures[attack.name] = str(error)
                    break

    def unlimited(self) -> float:
        """Measure the accuracy under far too large a budget, spent by gradient or, without one, by labels."""
        self._begin("unlimited budget")
        asked: dict[str, Any] = {
            "nodes": self.nodes,
            "budget": _UNLIMITED * self.num_edges,
            "seed": self.seed,
        }
        try:
            flips = FGA(flips_per_step=None)(self.scores, self.data, **asked)
        except ValueError:  # no usable gradient, which the gradient probe reports
            flips = DICE()(None, self.data, **asked)
        return self._accuracy(self.scores, flips.apply(self.data))

    def graph_free(self) -> float:
        """Measure the accuracy of an MLP on the features alone."""
        self._begin("MLP without the graph")
        fitted = make_model("mlp", dropout=0.5).fit(self.data, seed=self.seed)
        return accuracy(fitted.logits[self.nodes], self.data.y[self.nodes])

    def probe(self) -> GradientProbe:
        """Compare the gradient that attacks follow with finite differences."""
        self._begin("gradient")
        return probe_gradient(self.scores, self.data, self.nodes, seed=self.seed)

    def _run(self, attack: AuditAttack, rate: float, poisoning: bool) -> Finding:
        """Run one attack at one rate, then test and retrain on the attacked graph."""
        start = time.perf_counter()
        made, budget = attack.make(), max(1, round(rate * self.num_edges))
        scores = self.surrogate if attack.kind == "transfer" else self.scores
        only_poisoning = attack.kind == "poisoning"
        nodes = torch.nonzero(~self.data.train_mask).flatten() if only_poisoning else self.nodes
        flips = made(scores, self.data, nodes=nodes, budget=budget, seed=self.seed)
        attacked = flips.apply(self.data)
        retrained = self.fit(attacked, self.seed) if poisoning else None
        return Finding(
            attack=attack.name,
            kind=attack.kind,
            loss=getattr(made, "loss", None),
            rate=rate,
            budget=budget,
            flips=len(flips),
            seed=self.seed,
            evasion=None if only_poisoning else self._accuracy(self.scores, attacked),
            poisoning=None if retrained is None else self._accuracy(retrained, attacked),
            valid=is_valid_attack(self.data, attacked, budget),
            seconds=round(time.perf_counter() - start, 2),
        )

    def _accuracy(self, scores: Scores, data: Data) -> float:
        with torch.no_grad():
            out = scores(data.x, data.edge_index, data.edge_weight)
        return accuracy(out[self.nodes], data.y[self.nodes])

    def _begin(self, stage: str) -> None:
        if self.progress is not None:
            self.progress(f"{stage}, seed {self.seed}")
