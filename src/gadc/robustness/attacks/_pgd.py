"""PGD: projected gradient ascent on relaxed flips, then the best of many samples.

Xu, Chen, Liu, Chen, Weng, Hong and Lin, "Topology Attack and Defense for Graph Neural Networks: An
Optimization Perspective", IJCAI 2019; steps and samples are those of Mujkanovic, Geisler, Günnemann and
Bojchevski, "Are Defenses for Graph Neural Networks Robust?", NeurIPS 2022, and of GADC's Table 2.

Their step is `rate` · budget · gradient, so its length depends on the scale of the model's scores, and one
rate flatters whatever has small gradients. By default steps are therefore measured by the first gradient.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from gadc._base.memo import remembering
from gadc._base.validation import check_count, check_number
from gadc.robustness.attacks._base import Attack, Flips, Problem
from gadc.robustness.attacks._budget import ROUNDING, best_within, project
from gadc.robustness.attacks._candidates import BLOCK_SIZE
from gadc.robustness.attacks._losses import Loss, make_loss
from gadc.robustness.attacks._relaxation import Objective, Relaxed, set_up


@dataclass(frozen=True, kw_only=True)
class PGD(Attack):
    """Projected gradient ascent with steps that shrink as 1 / √(t + 1).

    In the end each pair is flipped with the probability that was found. Of `num_samples` draws within the
    budget, and the most probable flips that fit, those of the highest loss are taken.

    Args:
        steps: Gradients.
        rate: How far the first step moves the steepest pairs, as many as the budget flips, on average.
        scaled: If False, a step is `rate` · budget · gradient instead; published with a rate of 0.1.
        num_samples: Draws within the budget.
        max_draws: Draws in all: those beyond the budget are thrown away.
        loss: What is maximised, see `gadc.robustness.attacks._losses`.
        block_size: Candidate pairs at most; all pairs where they fit (see `candidate_pairs`).
    """

    steps: int = 200
    rate: float = 0.5
    scaled: bool = True
    num_samples: int = 100
    max_draws: int = 1000
    loss: str | Loss = "tanh-margin"
    block_size: int = BLOCK_SIZE

    def __post_init__(self) -> None:
        owner = type(self).__name__
        for name in ("steps", "max_draws", "block_size"):
            check_count(owner, getattr(self, name), name, low=1)
        check_count(owner, self.num_samples, "num_samples")
        check_number(owner, self.rate, "rate", strict=True)
        make_loss(self.loss)

    def find(self, problem: Problem) -> Flips:
        """Climb, project, sample."""
        budget, generator = problem.budget, problem.generator()
        objective, graph = set_up(problem, self.loss, self.block_size, generator)
        flipped = torch.zeros_like(graph.before)
        if not graph.pairs.shape[1]:
            return Flips(graph.pairs)
        length = 0.0
        with remembering():
            for step in range(self.steps):
                objective = self._attacked(objective, graph, flipped, step)
                gradient = objective.gradient(graph, flipped)
                length = length or self._length(gradient, graph, budget)
                moved = flipped.add_(gradient, alpha=length / math.sqrt(step + 1))
                flipped = project(moved, budget, graph.costs)
            return self._sample(objective, graph, flipped, budget, generator)

    def _length(self, gradient: Tensor, graph: Relaxed, budget: float) -> float:
        """What the gradient of the first step is multiplied by."""
        if not self.scaled:
            return self.rate * budget
        steepest = best_within(gradient, graph.costs, budget)
        # No pair helps yet: the scale is that of a later gradient.
        return self.rate / float(gradient[steepest].mean()) if len(steepest) else 0.0

    def _attacked(self, objective: Objective, graph: Relaxed, flipped: Tensor, step: int) -> Objective:
        """What the next step climbs."""
        return objective

    def _sample(
        self,
        objective: Objective,
        graph: Relaxed,
        flipped: Tensor,
        budget: float,
        generator: torch.Generator,
    ) -> Flips:
        best = Flips(graph.pairs[:, best_within(flipped, graph.costs, budget)])
        highest = objective.after(best)
        uncertain = torch.nonzero(flipped > 0).squeeze(1)
        chances, costs = flipped[uncertain], graph.costs[uncertain].double()
        left = self.num_samples
        for _ in range(self.max_draws):
            if not left:
                break
            drawn = torch.bernoulli(chances, generator=generator).bool()
            if float(costs[drawn].sum()) > budget * (1 + ROUNDING):
                continue
            left -= 1
            flips = Flips(graph.pairs[:, uncertain[drawn]])
            value = objective.after(flips)
            if value > highest:
                best, highest = flips, value
        return best
