"""Random flips: what any other attack must beat."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc.attacks.base import Attack, Flips, Rules, Scores
from gadc.attacks.budget import prefix_within
from gadc.attacks.candidates import PairSpace
from gadc.validation import check_number


@dataclass(frozen=True, kw_only=True)
class RandomFlips(Attack):
    """Flips uniformly drawn pairs of those allowed; in a sparse graph nearly all of them are new edges."""

    def __call__(
        self,
        scores: Scores | None,
        data: Data,
        *,
        nodes: Tensor,
        budget: float,
        seed: int = 0,
        rules: Rules | None = None,
    ) -> Flips:
        """Draw pairs; neither scores nor nodes are looked at."""
        budget = check_number("RandomFlips", budget, "budget")
        rules = Rules() if rules is None else rules
        generator = torch.Generator().manual_seed(seed)
        pairs = PairSpace.of(data, rules).draw(draws(budget, rules), generator)
        return Flips(pairs[:, prefix_within(rules.costs(pairs), budget)])


def draws(budget: float, rules: Rules) -> int:
    """How many pairs to draw so that the budget can be spent; cheap pairs need more than it counts."""
    return int(budget) if rules.cost is None else 10 * int(budget) + 1000
