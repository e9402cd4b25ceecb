"""Nettack: the flips that move one node's scores the most, computed exactly for every candidate.

Zügner, Akbarnejad and Günnemann, "Adversarial Attacks on Neural Networks for Graph Data", KDD 2018.

The surrogate is linear, Z = S S X W. Flips are chosen one after the other. Each is the flip that lowers the
target's margin (the score of its class minus the best other score) the most, among the flips that keep the
degree distribution plausible (`_degree_test`) and isolate no node.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.budget import ROUNDING
from gadc._base.pairs import pair_ends, pair_numbers
from gadc._base.scalars import check_count, check_number
from gadc.models._training.loss import margins
from gadc.robustness.attacks._base import EdgeAttack, Flips, Problem, Rules, Scores, check_budget
from gadc.robustness.attacks._degree_test import DegreeTest
from gadc.robustness.attacks._nodes import check_distinct_nodes, check_labelled_nodes
from gadc.robustness.attacks._pair_gradient import Diffusion
from gadc.robustness.attacks._surrogate import fit_surrogate
from gadc.robustness.attacks._surrogate_graph import check_graph, flip_edges
from gadc.robustness.attacks._target_scores import TargetScores


@dataclass(frozen=True, kw_only=True)
class Nettack(EdgeAttack):
    """Attack single nodes; the attack uses no scores, because it has its own surrogate.

    Args:
        influencers: With 0 (default), pairs at the target itself are flipped (direct attack). Otherwise only
            pairs at this number of its neighbors are flipped, the neighbors whose best flip does most harm.
        threshold: Largest statistic of the likelihood-ratio test on degrees, 0.004 by default; None skips the
            test.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> data = csbm(60, seed=0)
        >>> flips = Nettack()(None, data, nodes=torch.tensor([7]), budget=2)
        >>> bool((flips.pairs == 7).any(0).all())
        True
    """

    influencers: int = 0
    threshold: float | None = 0.004

    def __post_init__(self) -> None:
        check_count("Nettack", self.influencers, "influencers")
        if self.threshold is not None:
            check_number("Nettack", self.threshold, "threshold", strict=True)

    @torch.no_grad()
    def __call__(
        self,
        scores: Scores | None,
        data: Data,
        *,
        nodes: Tensor,
        budget: float | None = None,
        seed: int = 0,
        rules: Rules | None = None,
    ) -> Flips:
        """Choose the pairs to flip, see `EdgeAttack.__call__`.

        Args:
            scores: Not used; may be None.
            data: The clean graph; only the labels of `train_mask` and of the targets are used.
            nodes: Numbers of the targets, which are attacked one after the other on one graph.
            budget: Number of pairs for EACH target, or the sum of their costs; by default the degree of the
                target plus 2.
            seed: Not used, because nothing is random.
            rules: What is allowed; by default every pair may be flipped.
        """
        rules = rules or Rules()
        x, numbers, train = check_graph("Nettack", data)
        targets = check_labelled_nodes("Nettack", check_distinct_nodes("Nettack", nodes, len(x)), data)
        num_classes = int(torch.cat([data.y[train], data.y[targets]]).max()) + 1
        diffusion = Diffusion(x, numbers)
        projected = x @ fit_surrogate(diffusion.twice, data.y, train, num_classes)
        test = None if self.threshold is None else DegreeTest(diffusion.degree, self.threshold)
        search = _Search(projected, data.y, numbers, rules, test)
        for target in targets.tolist():
            limit = int(diffusion.degree[target]) + 2 if budget is None else budget
            search.run(target, check_budget("Nettack", limit, data, rules), self.influencers)
        return Flips(search.flipped)

    def find(self, problem: Problem) -> Flips:
        """Solve the problem by `__call__`, whose budget may be left to the degrees."""
        return self(None, problem.data, nodes=problem.nodes, budget=problem.budget, rules=problem.rules)


class _Search:
    """Greedy search for flips on one graph; no pair is flipped twice.

    Args:
        projected: X W.
        y: Labels.
        numbers: Edges of the clean graph as numbers of pairs.
        rules: What is allowed.
        test: Test on the degrees, or None.
    """

    def __init__(
        self, projected: Tensor, y: Tensor, numbers: Tensor, rules: Rules, test: DegreeTest | None
    ) -> None:
        self.projected, self.y, self.numbers, self.rules, self.test = projected, y, numbers, rules, test
        self.flipped = torch.empty(2, 0, dtype=torch.int64)

    def run(self, target: int, budget: float, influencers: int) -> None:
        """Flip until the budget is spent or no flip lowers the target's margin."""
        left = budget * (1 + ROUNDING)
        sources = torch.tensor([target])
        if influencers:
            sources = self._influencers(target, left, influencers)
        while True:
            state = TargetScores(self.projected, self.numbers, target)
            pairs = _pairs_at(sources, len(self.projected), without=target if influencers else None)
            gain, pairs = self._gains(state, pairs, left)
            if not len(gain) or float(gain.max()) <= 0:
                return
            best = pairs[:, gain.argmax()].unsqueeze(1)
            left -= float(self.rules.costs(best).sum())
            self.flipped = torch.cat([self.flipped, best], 1)
            self.numbers = flip_edges(self.numbers, best)

    def _gains(self, state: TargetScores, pairs: Tensor, budget: float) -> tuple[Tensor, Tensor]:
        """Compute how much each permitted flip lowers the margin; return these gains and the flips."""
        present = state.present(pairs)
        change = 1 - 2 * present.long()
        keep = self.rules.allowed(pairs, present)
        keep &= ~torch.isin(pair_numbers(*pairs), pair_numbers(*self.flipped))
        keep &= ~(present & (state.degree[pairs] == 1).any(0))  # no node is isolated
        keep &= self.rules.costs(pairs) <= budget
        if self.test is not None:
            keep &= self.test.passes(state.degree, pairs, change)
        pairs, label = pairs[:, keep], self.y[state.target]
        after = margins(state.after(pairs, present[keep]), label.expand(pairs.shape[1]))
        return after - margins(state.now().unsqueeze(0), label.unsqueeze(0)), pairs

    def _influencers(self, target: int, budget: float, count: int) -> Tensor:
        """Find the neighbors whose best flip lowers the margin the most."""
        state = TargetScores(self.projected, self.numbers, target)
        neighbors = torch.nonzero(state.row).squeeze(1)
        neighbors = neighbors[neighbors != target]
        best = []
        for node in neighbors:
            gain, _ = self._gains(state, _pairs_at(node.unsqueeze(0), len(state.row), without=target), budget)
            best.append(float(gain.max()) if len(gain) else -torch.inf)
        order = torch.tensor(best).argsort(descending=True, stable=True)
        return neighbors[order[:count]]


def _pairs_at(sources: Tensor, num_nodes: int, *, without: int | None) -> Tensor:
    """List all pairs u < v with a node in `sources` and no node equal to `without`, each once."""
    others = torch.arange(num_nodes)
    others = others if without is None else others[others != without]
    first, second = torch.cartesian_prod(sources, others).T
    numbers = pair_numbers(first, second)
    return pair_ends(torch.unique(numbers[first != second]))
