"""FGA: flip the pairs along which the loss rises fastest.

J. Chen, Wu, Xu, Y. Chen, Zheng and Xuan, "Fast Gradient Attack on Network Embedding", 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from gadc._base.budget import best_within
from gadc._base.scalars import check_count
from gadc.robustness.attacks._base import EdgeAttack, Flips, Problem
from gadc.robustness.attacks._candidates import BLOCK_SIZE
from gadc.robustness.attacks._losses import Loss, make_loss
from gadc.robustness.attacks._relaxation import set_up


@dataclass(frozen=True, kw_only=True)
class FGA(EdgeAttack):
    """Greedily flip the pairs with the largest gradient per cost; pairs that would lower the loss are kept.

    Args:
        flips_per_step: Number of flips between two gradients, 1 by default; None makes all flips by the
            first gradient.
        loss: Loss that is maximised: a name in `LOSSES`, "cross-entropy" by default, or a function.
        block_size: Largest number of candidate pairs, 4.5 million by default; a graph with more pairs is
            attacked on a random block of them.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> data = csbm(60, seed=0)
        >>> scores = make_model("s2gc", epochs=10).fit(data).scores
        >>> len(FGA(flips_per_step=5)(scores, data, nodes=torch.arange(60), budget=10))
        10
    """

    flips_per_step: int | None = 1
    loss: str | Loss = "cross-entropy"
    block_size: int = BLOCK_SIZE

    def __post_init__(self) -> None:
        if self.flips_per_step is not None:
            check_count("FGA", self.flips_per_step, "flips_per_step", low=1)
        check_count("FGA", self.block_size, "block_size", low=1)
        make_loss(self.loss)

    def find(self, problem: Problem) -> Flips:
        """Flip until the budget is spent or no flip raises the loss."""
        objective, graph = set_up(problem, self.loss, self.block_size, problem.generator())
        flipped, left = torch.zeros_like(graph.before), problem.budget
        while left > 0 and graph.pairs.shape[1]:
            gain = (objective.gradient(graph, flipped) / graph.costs).masked_fill(flipped > 0, 0.0)
            best = best_within(gain, graph.costs, left, limit=self.flips_per_step)
            flipped[best] = 1.0
            left -= float(graph.costs[best].double().sum())
            if not len(best) or self.flips_per_step is None:
                break
        return Flips(graph.pairs[:, flipped > 0])
