"""Random flips: what any other attack must beat."""

from __future__ import annotations

from dataclasses import dataclass

from gadc.robustness.attacks._base import Attack, Flips, Problem, Rules
from gadc.robustness.attacks._budget import prefix_within
from gadc.robustness.attacks._candidates import PairSpace


@dataclass(frozen=True, kw_only=True)
class RandomFlips(Attack):
    """Flips uniformly drawn pairs of those allowed; in a sparse graph nearly all of them are new edges."""

    def find(self, problem: Problem) -> Flips:
        """Draw pairs; neither scores nor nodes are looked at."""
        budget, rules = problem.budget, problem.rules
        pairs = PairSpace.of(problem.data, rules).draw(draws(budget, rules), problem.generator())
        return Flips(pairs[:, prefix_within(rules.costs(pairs), budget)])


def draws(budget: float, rules: Rules) -> int:
    """How many pairs to draw so that the budget can be spent; cheap pairs need more than it counts."""
    return int(budget) if rules.cost is None else 10 * int(budget) + 1000
