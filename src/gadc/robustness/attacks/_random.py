"""Random flips: the baseline that every other attack must beat."""

from __future__ import annotations

from dataclasses import dataclass

from gadc._base.budget import prefix_within
from gadc.robustness.attacks._base import EdgeAttack, Flips, Problem, Rules
from gadc.robustness.attacks._candidates import PairSpace


@dataclass(frozen=True, kw_only=True)
class RandomFlips(EdgeAttack):
    """Flip allowed pairs drawn uniformly; in a sparse graph nearly all of them are new edges.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> data = csbm(60, seed=0)
        >>> len(RandomFlips()(None, data, nodes=torch.arange(60), budget=12))
        12
    """

    def find(self, problem: Problem) -> Flips:
        """Draw pairs; neither scores nor nodes are used."""
        budget, rules = problem.budget, problem.rules
        pairs = PairSpace.of(problem.data, rules).draw(num_draws(budget, rules), problem.generator())
        return Flips(pairs[:, prefix_within(rules.costs(pairs), budget)])


def num_draws(budget: float, rules: Rules) -> int:
    """Choose how many pairs to draw so that the budget can be spent, also if most cost less than 1."""
    return int(budget) if rules.cost is None else 10 * int(budget) + 1000
