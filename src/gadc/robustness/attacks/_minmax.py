"""Min-max: PGD against weights that are trained again during the attack, for poisoning.

    max over flips  min over weights  of the loss

Xu et al., "Topology Attack and Defense for Graph Neural Networks: An Optimization Perspective", IJCAI 2019.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from torch import Tensor
from torch_geometric.data import Data

from gadc._base.scalars import check_count
from gadc.robustness.attacks._base import Flips, Problem, Scores
from gadc.robustness.attacks._pgd import PGD
from gadc.robustness.attacks._relaxation import Objective, RelaxedGraph


@dataclass(frozen=True, kw_only=True)
class MinMax(PGD):
    """PGD that alternates with training on the relaxed graph; the other settings are those of `PGD`.

    Args:
        refit: Function that trains on a graph with edge weights in [0, 1] and returns its scores, for
            instance `lambda data: GCN().fit(data).scores`.
        refit_every: Number of gradient steps between two trainings, 10 by default.

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> data, model = csbm(60, seed=0), make_model("s2gc", epochs=10)
        >>> attack = MinMax(refit=lambda graph: model.fit(graph).scores, num_steps=4, refit_every=2)
        >>> len(attack(None, data, nodes=torch.arange(60), budget=10)) <= 10
        True
    """

    refit: Callable[[Data], Scores]
    refit_every: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("MinMax", self.refit_every, "refit_every", low=1)
        if not callable(self.refit):
            raise TypeError(f"MinMax: refit must be a callable Data -> scores, got {self.refit!r}.")

    def find(self, problem: Problem) -> Flips:
        """Ascend, project, retrain and sample; without `scores`, train on the clean graph first."""
        if problem.scores is None:
            problem = replace(problem, scores=self.refit(problem.data))
        return super().find(problem)

    def _attacked(self, objective: Objective, graph: RelaxedGraph, flipped: Tensor, step: int) -> Objective:
        if step == 0 or step % self.refit_every:
            return objective
        return replace(objective, scores=self.refit(graph.data(objective.data, flipped)))
