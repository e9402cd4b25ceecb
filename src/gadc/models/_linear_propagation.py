"""Models that predict, then propagate the predictions by a map that is not trained: Z = S f(X)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from torch import Tensor, nn

from gadc.models._fast.propagation_rows import propagation_rows, rows_are_cheaper
from gadc.models._fast.sparse_features import SparseFeatures
from gadc.models._graph_model import GraphModel
from gadc.operators import LinearOperator

_WORTHWHILE = 0.8  # share of the nodes below which a copy of their features pays


@dataclass(frozen=True, kw_only=True)
class LinearPropagation(GraphModel):
    """Base of these models; their module holds the map f as `mlp`.

    Args:
        num_steps: Number of steps K of the propagation, 10 by default.
    """

    num_steps: int = 10

    @property
    @abstractmethod
    def linear(self) -> bool:
        """Whether these settings make the propagation a fixed linear map."""

    @abstractmethod
    def propagate(self, predicted: Tensor, graph: LinearOperator) -> Tensor:
        """Return S f as in evaluation mode, shape (n, classes)."""

    def scorer(
        self, module: nn.Module, targets: Tensor, features: Tensor | SparseFeatures, graph: LinearOperator
    ) -> Callable[[], Tensor]:
        """Score by the rows of S where that is cheaper than its products; see `GraphModel.scorer`."""
        if not self.linear or not rows_are_cheaper(targets, graph, self.num_steps):
            return super().scorer(module, targets, features, graph)
        rows = propagation_rows(lambda f: self.propagate(f, graph), targets, graph.dtype)
        needed = (rows != 0).any(0)
        if int(needed.sum()) <= _WORTHWHILE * len(needed):
            rows, features = rows[:, needed].contiguous(), features[needed]
        predict = cast("Callable[[Tensor | SparseFeatures], Tensor]", module.mlp)
        return lambda: rows @ predict(features)
