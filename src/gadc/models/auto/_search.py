"""All candidates, tried with a cheap head: one pass over the graph for each transition."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from gadc.diffusion import NearZeroRowSumWarning, Plain, normalize_rows
from gadc.models.auto import _candidates as grid
from gadc.models.auto._candidates import Candidate, distinct_normalizations, edge_radii, rank
from gadc.models.auto._ridge import ridge_outcome
from gadc.models.auto._rounds import Round
from gadc.models.auto._sweep import Sums, moments_pay, sweep, sweep_gram, thin_gram
from gadc.operators import LinearOperator

_NORMALIZATIONS = 2  # so many go on to the variants, the best with plain diffusion or none
_KEPT = 3  # of each family, with their features
_MOST_ROWS = 1000  # in each part of a split, for the cheap head
_ROUGH = 0.03  # error of II that is allowed in a comparison


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate with the cheap head.

    Attributes:
        candidate: What was tried.
        accuracy: On the validation nodes, in percent.
        error: Mean squared error there, which tells apart settings of equal accuracy.
        features: Its rows of the labelled nodes, kept for finalists only.
        correct: Of label propagation, which has no head to be trained: the validation nodes it got right.
    """

    candidate: Candidate
    accuracy: float
    error: float = 0.0
    features: Tensor | None = None
    correct: Tensor | None = None


@dataclass(eq=False)
class Search:
    """The trials on one graph.

    Args:
        x: Features.
        edge_index: Edges, at least one.
        edge_weight: Their weights, or None.
        y: Classes, read at the nodes of the rounds alone.
        rounds: Splits to validate on, at least one.
        directed: See `gadc.transition`.
        tell: Is told what begins.

    Attributes:
        rows: The nodes that have labels.
        labels: Their classes.
        trials: All that was tried.
        best: The best few of each family, the best one first.
    """

    x: Tensor
    edge_index: Tensor
    edge_weight: Tensor | None
    y: Tensor
    rounds: list[Round]
    directed: bool = False
    tell: Callable[[str], None] = lambda message: None
    trials: list[Trial] = field(default_factory=list, init=False)
    best: dict[str, list[Trial]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        nodes = [part for one in self.rounds for part in (one.train, one.validation)]
        self.rows: Tensor = torch.unique(torch.cat(nodes))
        self.labels = self.y[self.rows]
        self._few = [
            Round(self.places(_few(one.train)), self.places(_few(one.validation))) for one in self.rounds
        ]

    @property
    def num_validated(self) -> int:
        """Different validation nodes in all rounds."""
        return len(torch.unique(torch.cat([one.validation for one in self.rounds])))

    def places(self, nodes: Tensor) -> Tensor:
        """Where these nodes stand in `rows`."""
        return torch.searchsorted(self.rows, nodes)

    @torch.no_grad()
    def run(self) -> list[Trial]:
        """Try them all."""
        kinds = distinct_normalizations(self.x)
        with warnings.catch_warnings():
            # Whether signed sums do harm is for the validation nodes to say.
            warnings.simplefilter("ignore", NearZeroRowSumWarning)
            self.tell("trying the features alone")
            for kind in kinds:
                features = normalize_rows(self.x, kind)[self.rows]
                self._record(Candidate(family="none", normalize=kind), features)
            self._with_graph(kinds)
        return self.trials

    def finalists(self) -> list[Trial]:
        """The best of each family, simple ones first, if it is within a standard error of the best of all.

        The best with the graph and the best without it always stay, to be set beside each other.
        """
        there = sorted((family[0] for family in self.best.values()), key=lambda one: rank(one.candidate))
        share = max(one.accuracy for one in there) / 100
        reach = 100 * (share - math.sqrt(share * (1 - share) / self.num_validated))
        joined = [one for one in there if one.candidate.family != "none"]
        best = max(joined, key=lambda one: one.accuracy, default=None)
        return [one for one in there if one.accuracy >= reach or one is best or one not in joined]

    def _with_graph(self, kinds: tuple[str, ...]) -> None:
        self.tell("trying plain diffusion")
        for kind in kinds:
            self._sweep(Candidate(family="plain", normalize=kind), grid.PLAIN_GRID)
        for kind in self._best_normalizations(kinds):
            self.tell(f"trying I to IV, rows normalised: {kind}")
            for eps in grid.RADII_I:
                self._sweep(Candidate(family="I", normalize=kind, eps=eps), grid.SHORT_GRID)
            for loops in grid.LOOPS_IV:
                self._sweep(Candidate(family="IV", normalize=kind, self_loops=loops), grid.COSINE_GRID)
            if bool((self.x != 0).any()):
                self._gram(kind)
        self._labels()

    def _sweep(self, pattern: Candidate, pairs: list[tuple[float, int]]) -> None:
        """Try a transition with all (λ, K)."""
        rows = normalize_rows(self.x, pattern.normalize)
        self._record_all(pattern, sweep(self._operator(pattern, rows), rows, pairs, self.rows))

    def _gram(self, kind: str) -> None:
        """II and III, whose Φ is made of products of rows."""
        rows = normalize_rows(self.x, kind)
        plain = self._operator(Candidate(family="plain"), rows)
        edge_gram = Candidate(family="III", normalize=kind, eps=1.0)
        for eps in edge_radii(plain, self._operator(edge_gram, rows)):
            self._sweep(replace(edge_gram, eps=eps), grid.LONG_GRID)
        patterns = {eps: Candidate(family="II", normalize=kind, eps=eps) for eps in grid.RADII_II}
        steps = max(k for _, k in grid.GRAM_GRID)
        if moments_pay(len(rows), rows.shape[1], steps, len(patterns)):
            found = sweep_gram(plain, rows, grid.RADII_II, grid.GRAM_GRID, self.rows)
        else:
            found = {}
            for eps, pattern in patterns.items():
                operator = thin_gram(self._operator(pattern, rows), rows, steps, _ROUGH)
                found[eps] = sweep(operator, rows, grid.GRAM_GRID, self.rows)
        for eps, pattern in patterns.items():
            self._record_all(pattern, found[eps])

    def _labels(self) -> None:
        """Label propagation, all rounds side by side."""
        self.tell("trying label propagation")
        classes = int(self.labels.max()) + 1
        seeds = torch.zeros((len(self.x), len(self.rounds) * classes), dtype=self.x.dtype)
        for number, one in enumerate(self.rounds):
            seeds[one.train, number * classes + self.y[one.train]] = 1.0
        operator = Plain()(
            self.x, self.edge_index, self.edge_weight
        )  # undirected, as `LabelPropagation` has it
        everyone = torch.arange(len(self.x))
        for (lam, k), spread in sweep(operator, seeds, grid.LABEL_GRID, everyone).items():
            scores = _balanced(spread).view(len(self.x), len(self.rounds), classes)
            nodes = [one.validation for one in self.rounds]
            correct = torch.cat(
                [scores[part, number].argmax(1) == self.y[part] for number, part in enumerate(nodes)]
            )
            candidate = Candidate(family="labels", lam=lam, num_steps=k)
            self._keep(Trial(candidate, 100.0 * float(correct.double().mean()), correct=correct))

    def _operator(self, candidate: Candidate, rows: Tensor) -> LinearOperator:
        return candidate.operator(self.x, rows, self.edge_index, self.edge_weight, directed=self.directed)

    def _record_all(self, pattern: Candidate, sums: Sums) -> None:
        for (lam, k), features in sums.items():
            self._record(replace(pattern, lam=lam, num_steps=k), features)

    def _record(self, candidate: Candidate, features: Tensor) -> None:
        outcome = ridge_outcome(features, self.labels, self._few)
        if outcome is not None:
            self._keep(Trial(candidate, *outcome, features=features))

    def _keep(self, trial: Trial) -> None:
        """Add a trial; only the best few of a family hold on to their features."""
        self.trials.append(replace(trial, features=None, correct=None))
        family = self.best.get(trial.candidate.family, [])
        self.best[trial.candidate.family] = sorted([*family, trial], key=_order)[:_KEPT]

    def _best_normalizations(self, kinds: tuple[str, ...]) -> list[str]:
        best = dict.fromkeys(kinds, 0.0)
        for trial in self.trials:
            best[trial.candidate.normalize] = max(best[trial.candidate.normalize], trial.accuracy)
        return sorted(kinds, key=lambda kind: -best[kind])[:_NORMALIZATIONS]


def _order(trial: Trial) -> tuple[float, float, tuple[int, int, float, int]]:
    return -trial.accuracy, trial.error, rank(trial.candidate)


def _balanced(spread: Tensor) -> Tensor:
    """Each class divided by the mass it holds, so that large classes do not swallow small ones."""
    return spread / spread.sum(0, keepdim=True).clamp(min=1e-12)


def _few(nodes: Tensor) -> Tensor:
    """At most so many of the nodes as the cheap head takes."""
    order = torch.randperm(len(nodes), generator=torch.Generator().manual_seed(0))
    return nodes[order[:_MOST_ROWS].sort().values]
