"""FGA: flip the pairs along which the loss rises fastest.

J. Chen, Wu, Xu, Y. Chen, Zheng and Xuan, "Fast Gradient Attack on Network Embedding", 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from gadc._base.memo import remembering
from gadc._base.validation import check_count
from gadc.robustness.attacks._base import Attack, Flips, Problem
from gadc.robustness.attacks._budget import best_within
from gadc.robustness.attacks._candidates import BLOCK_SIZE
from gadc.robustness.attacks._losses import Loss, make_loss
from gadc.robustness.attacks._relaxation import set_up


@dataclass(frozen=True, kw_only=True)
class FGA(Attack):
    """Greedy flips by gradient, per cost; pairs that would lower the loss are left alone.

    Args:
        flips_per_step: Flips between two gradients; None flips all by the first one.
        loss: What is maximised, see `gadc.robustness.attacks._losses`.
        block_size: Candidate pairs at most; all pairs where they fit (see `candidate_pairs`).
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
        """Flip until the budget is spent or nothing raises the loss."""
        objective, graph = set_up(problem, self.loss, self.block_size, problem.generator())
        flipped, left = torch.zeros_like(graph.before), problem.budget
        with remembering():
            while left > 0 and graph.pairs.shape[1]:
                gain = (objective.gradient(graph, flipped) / graph.costs).masked_fill(flipped > 0, 0.0)
                best = best_within(gain, graph.costs, left, limit=self.flips_per_step)
                flipped[best] = 1.0
                left -= float(graph.costs[best].double().sum())
                if not len(best) or self.flips_per_step is None:
                    break
        return Flips(graph.pairs[:, flipped > 0])
