"""PGD: projected gradient ascent on relaxed flips, then the best of many samples.

Xu, Chen, Liu, Chen, Weng, Hong and Lin, "Topology Attack and Defense for Graph Neural Networks: An
Optimization Perspective", IJCAI 2019; steps and samples follow Mujkanovic, Geisler, Günnemann and
Bojchevski, "Are Defenses for Graph Neural Networks Robust?", NeurIPS 2022, and GADC's Table 2.

The published step is `rate` · budget · gradient. Its length depends on the scale of the model's scores, so
one rate makes models with small gradients look robust. By default the steps are therefore scaled by the
first gradient.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from gadc._base.budget import ROUNDING, best_within, project
from gadc._base.scalars import check_count, check_number
from gadc.robustness.attacks._base import EdgeAttack, Flips, Problem
from gadc.robustness.attacks._candidates import BLOCK_SIZE
from gadc.robustness.attacks._losses import Loss, make_loss
from gadc.robustness.attacks._relaxation import Objective, RelaxedGraph, set_up


@dataclass(frozen=True, kw_only=True)
class PGD(EdgeAttack):
    """Projected gradient ascent with steps that shrink as 1 / √(t + 1).

    At the end each pair is flipped with the probability that was found. The result is the best, by its loss,
    of `num_samples` draws within the budget and the most probable flips that fit into it.

    Args:
        num_steps: Number of gradient steps, 200 by default.
        rate: Mean distance, 0.5 by default, by which the first step moves the steepest pairs, as many as the
            budget can flip.
        scaled: Whether steps are scaled by the first gradient (default). Otherwise a step is
            `rate` · budget · gradient, as published with a rate of 0.1.
        num_samples: Number of draws within the budget, 100 by default.
        max_draws: Largest number of draws including those beyond the budget, which are discarded; 1000 by
            default.
        loss: Loss that is maximised: a name in `LOSSES`, "tanh-margin" by default, or a function.
        block_size: Largest number of candidate pairs, 4.5 million by default; a graph with more pairs is
            attacked on a random block of them.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> data = csbm(60, seed=0)
        >>> scores = make_model("s2gc", epochs=10).fit(data).scores
        >>> flips = PGD(num_steps=5, num_samples=5)(scores, data, nodes=torch.arange(60), budget=10)
        >>> len(flips) <= 10
        True
    """

    num_steps: int = 200
    rate: float = 0.5
    scaled: bool = True
    num_samples: int = 100
    max_draws: int = 1000
    loss: str | Loss = "tanh-margin"
    block_size: int = BLOCK_SIZE

    def __post_init__(self) -> None:
        owner = type(self).__name__
        for name in ("num_steps", "max_draws", "block_size"):
            check_count(owner, getattr(self, name), name, low=1)
        check_count(owner, self.num_samples, "num_samples")
        check_number(owner, self.rate, "rate", strict=True)
        make_loss(self.loss)

    def find(self, problem: Problem) -> Flips:
        """Ascend, project and sample."""
        budget, generator = problem.budget, problem.generator()
        objective, graph = set_up(problem, self.loss, self.block_size, generator)
        flipped = torch.zeros_like(graph.before)
        if not graph.pairs.shape[1]:
            return Flips(graph.pairs)
        length = 0.0
        for step in range(self.num_steps):
            objective = self._attacked(objective, graph, flipped, step)
            gradient = objective.gradient(graph, flipped)
            length = length or self._length(gradient, graph, budget)
            moved = flipped.add_(gradient, alpha=length / math.sqrt(step + 1))
            flipped = project(moved, budget, graph.costs)
        return self._sample(objective, graph, flipped, budget, generator)

    def _length(self, gradient: Tensor, graph: RelaxedGraph, budget: float) -> float:
        """Compute the factor of the gradient in the first step."""
        if not self.scaled:
            return self.rate * budget
        steepest = best_within(gradient, graph.costs, budget)
        # If no pair helps yet, a later gradient sets the scale.
        return self.rate / float(gradient[steepest].mean()) if len(steepest) else 0.0

    def _attacked(self, objective: Objective, graph: RelaxedGraph, flipped: Tensor, step: int) -> Objective:
        """Return the objective of the next step; subclasses may replace it."""
        return objective

    def _sample(
        self,
        objective: Objective,
        graph: RelaxedGraph,
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
