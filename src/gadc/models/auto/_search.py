"""The search: try all candidates with a cheap head, with one pass over the graph for each transition."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from gadc._base.memo import remembering
from gadc.diffusion import NearZeroRowSumWarning, Plain, normalize_rows
from gadc.models._label_propagation import balance_classes
from gadc.models.auto import _candidates as grid
from gadc.models.auto._candidates import FAMILIES, Candidate, distinct_normalizations, edge_radii, rank
from gadc.models.auto._ridge import ridge_outcome
from gadc.models.auto._splits import Split
from gadc.models.auto._sweep import Sums, lower_rank_gram, moments_pay, sweep, sweep_gram
from gadc.operators import LinearOperator

_NORMALIZATIONS = 2  # number of row normalisations that the variants are tried with
_KEPT = 3  # number of candidates of each family whose features are kept
_MOST_ROWS = 1000  # in each part of a split, for the cheap head
_ROUGH = 0.03  # relative error of II that is allowed in a comparison


@dataclass(frozen=True, eq=False)
class Trial:
    """Outcome of a candidate with the cheap head.

    Attributes:
        candidate: The candidate.
        accuracy: Accuracy on the validation nodes in percent.
        error: Mean squared error there, which tells candidates of equal accuracy apart.
        features: Features of the labelled nodes; kept for the best of each family only.
        correct: Which validation nodes are right; for label propagation only, which has no head.
    """

    candidate: Candidate
    accuracy: float
    error: float = 0.0
    features: Tensor | None = None
    correct: Tensor | None = None


@dataclass(eq=False)
class Search:
    """The trials of all candidates on one graph.

    Args:
        x: Features, shape (n, d).
        edge_index: Edges, shape (2, m), at least one.
        edge_weight: Weights of the edges, shape (m,), or None.
        y: Class of each node, read at the nodes of the splits only.
        splits: Splits to validate on, at least one.
        families: Families to try, all by default.
        directed: See `gadc.transition`.
        tell: Called with a message at the start of each stage.

    Attributes:
        rows: Numbers of the labelled nodes.
        labels: Classes of the labelled nodes.
        trials: The trials so far, without their features.
        best: The best few trials of each family, the best one first.
        skipped: Families that were left out because they would take too long.
    """

    x: Tensor
    edge_index: Tensor
    edge_weight: Tensor | None
    y: Tensor
    splits: list[Split]
    families: Sequence[str] = FAMILIES
    directed: bool = False
    tell: Callable[[str], None] = lambda message: None
    trials: list[Trial] = field(default_factory=list, init=False)
    best: dict[str, list[Trial]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        nodes = [part for one in self.splits for part in (one.train, one.validation)]
        self.rows: Tensor = torch.unique(torch.cat(nodes))
        self.labels = self.y[self.rows]
        self._few = [
            Split(self.positions(_few(one.train)), self.positions(_few(one.validation)))
            for one in self.splits
        ]
        too_large = "IV+" in self.families and not grid.anchors_are_affordable(self.x)
        self.skipped = ["IV+"] if too_large else []

    @property
    def num_validated(self) -> int:
        """Number of different validation nodes in all splits."""
        return len(torch.unique(torch.cat([one.validation for one in self.splits])))

    def positions(self, nodes: Tensor) -> Tensor:
        """Return where these nodes stand in `rows`."""
        return torch.searchsorted(self.rows, nodes)

    @torch.no_grad()
    @remembering()  # the anchors of IV+ depend on the features only: they are found once
    def run(self) -> list[Trial]:
        """Try every candidate and return the trials."""
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
        """Return the best trial of each family that is within a standard error of the best one of all.

        The best trial with the graph and the best one without it are always among them, so that the two can
        be compared. Simpler families come first.
        """
        best = sorted((family[0] for family in self.best.values()), key=lambda one: rank(one.candidate))
        share = max(one.accuracy for one in best) / 100
        reach = 100 * (share - math.sqrt(share * (1 - share) / self.num_validated))
        with_graph = [one for one in best if one.candidate.family != "none"]
        leader = max(with_graph, key=lambda one: one.accuracy, default=None)
        return [one for one in best if one.accuracy >= reach or one is leader or one not in with_graph]

    def _tries(self, family: str) -> bool:
        return family in self.families and family not in self.skipped

    def _with_graph(self, kinds: tuple[str, ...]) -> None:
        if self._tries("plain"):
            self.tell("trying plain diffusion")
            for kind in kinds:
                self._sweep(Candidate(family="plain", normalize=kind), grid.PLAIN_GRID)
        for kind in self._best_normalizations(kinds):
            self.tell(f"trying the variants with row normalisation {kind!r}")
            for candidate in grid.cosine_candidates(kind):
                if self._tries(candidate.family):
                    self._sweep(candidate, grid.COSINE_GRIDS[candidate.family])
            if bool((self.x != 0).any()):
                self._edge_gram(kind)
                self._global_gram(kind)
        if self._tries("labels"):
            self.tell("trying label propagation")
            self._labels()

    def _sweep(self, candidate: Candidate, pairs: list[tuple[float, int]]) -> None:
        """Try a transition with every (λ, K)."""
        rows = normalize_rows(self.x, candidate.normalize)
        self._record_all(candidate, sweep(self._operator(candidate, rows), rows, pairs, self.rows))

    def _edge_gram(self, kind: str) -> None:
        """Try III."""
        if not self._tries("III"):
            return
        rows = normalize_rows(self.x, kind)
        plain = self._operator(Candidate(family="plain"), rows)
        candidate = Candidate(family="III", normalize=kind, eps=1.0)
        for eps in edge_radii(plain, self._operator(candidate, rows)):
            self._sweep(replace(candidate, eps=eps), grid.LONG_GRID)

    def _global_gram(self, kind: str) -> None:
        """Try II, whose radii share one pass over the graph if there are few features."""
        if not self._tries("II"):
            return
        rows = normalize_rows(self.x, kind)
        candidates = {eps: Candidate(family="II", normalize=kind, eps=eps) for eps in grid.RADII_II}
        steps = max(k for _, k in grid.GRAM_GRID)
        if moments_pay(len(rows), rows.shape[1], steps, len(candidates)):
            plain = self._operator(Candidate(family="plain"), rows)
            found = sweep_gram(plain, rows, grid.RADII_II, grid.GRAM_GRID, self.rows)
        else:
            found = {}
            for eps, candidate in candidates.items():
                operator = lower_rank_gram(self._operator(candidate, rows), rows, steps, _ROUGH)
                found[eps] = sweep(operator, rows, grid.GRAM_GRID, self.rows)
        for eps, candidate in candidates.items():
            self._record_all(candidate, found[eps])

    def _labels(self) -> None:
        """Try label propagation, with separate columns for the training labels of each split."""
        classes = int(self.labels.max()) + 1
        seeds = torch.zeros((len(self.x), len(self.splits) * classes), dtype=self.x.dtype)
        for number, one in enumerate(self.splits):
            seeds[one.train, number * classes + self.y[one.train]] = 1.0
        operator = Plain()(self.x, self.edge_index, self.edge_weight)  # undirected, as in `LabelPropagation`
        everyone = torch.arange(len(self.x))
        for (lam, k), mass in sweep(operator, seeds, grid.LABEL_GRID, everyone).items():
            scores = balance_classes(mass).view(len(self.x), len(self.splits), classes)
            nodes = [one.validation for one in self.splits]
            correct = torch.cat(
                [scores[part, number].argmax(1) == self.y[part] for number, part in enumerate(nodes)]
            )
            candidate = Candidate(family="labels", lam=lam, num_steps=k)
            self._keep(Trial(candidate, 100.0 * float(correct.double().mean()), correct=correct))

    def _operator(self, candidate: Candidate, rows: Tensor) -> LinearOperator:
        return candidate.operator(self.x, rows, self.edge_index, self.edge_weight, directed=self.directed)

    def _record_all(self, candidate: Candidate, sums: Sums) -> None:
        for (lam, k), features in sums.items():
            self._record(replace(candidate, lam=lam, num_steps=k), features)

    def _record(self, candidate: Candidate, features: Tensor) -> None:
        outcome = ridge_outcome(features, self.labels, self._few)
        if outcome is not None:
            self._keep(Trial(candidate, *outcome, features=features))

    def _keep(self, trial: Trial) -> None:
        """Add a trial; only the best few of a family keep their features."""
        self.trials.append(replace(trial, features=None, correct=None))
        family = self.best.get(trial.candidate.family, [])
        self.best[trial.candidate.family] = sorted([*family, trial], key=_order)[:_KEPT]

    def _best_normalizations(self, kinds: tuple[str, ...]) -> list[str]:
        """Return the row normalisations that did best without a graph or with plain diffusion."""
        best = dict.fromkeys(kinds, 0.0)
        for trial in self.trials:
            best[trial.candidate.normalize] = max(best[trial.candidate.normalize], trial.accuracy)
        return sorted(kinds, key=lambda kind: -best[kind])[:_NORMALIZATIONS]


def _order(trial: Trial) -> tuple[float, float, tuple[int, int, float, int]]:
    return -trial.accuracy, trial.error, rank(trial.candidate)


def _few(nodes: Tensor) -> Tensor:
    """Return at most `_MOST_ROWS` of the nodes, drawn at random."""
    order = torch.randperm(len(nodes), generator=torch.Generator().manual_seed(0))
    return nodes[order[:_MOST_ROWS].sort().values]
