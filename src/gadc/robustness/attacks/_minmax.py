"""Min-max: PGD against weights that are trained again on the way, for poisoning.

    max over flips  min over weights  of the loss

Xu et al., "Topology Attack and Defense for Graph Neural Networks: An Optimization Perspective", IJCAI 2019.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from torch import Tensor
from torch_geometric.data import Data

from gadc._base.validation import check_count
from gadc.robustness.attacks._base import Flips, Problem, Scores
from gadc.robustness.attacks._pgd import PGD
from gadc.robustness.attacks._relaxation import Objective, Relaxed


@dataclass(frozen=True, kw_only=True)
class MinMax(PGD):
    """PGD that alternates with training on the relaxed graph.

    Args:
        refit: Trains on a graph with edge weights in [0, 1] and gives its scores, for instance
            `lambda data: GCN().fit(data).scores`.
        refit_every: Gradient steps between two trainings.
    """

    refit: Callable[[Data], Scores]
    refit_every: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("MinMax", self.refit_every, "refit_every", low=1)
        if not callable(self.refit):
            raise TypeError(f"MinMax: refit must be a callable Data -> scores, got {self.refit!r}.")

    def find(self, problem: Problem) -> Flips:
        """Climb, project, retrain, sample; without `scores` it starts from a training on the clean graph."""
        if problem.scores is None:
            problem = replace(problem, scores=self.refit(problem.data))
        return super().find(problem)

    def _attacked(self, objective: Objective, graph: Relaxed, flipped: Tensor, step: int) -> Objective:
        if step == 0 or step % self.refit_every:
            return objective
        return replace(objective, scores=self.refit(graph.data(objective.data, flipped)))
