"""Models whose filter is learned: an MLP, then a polynomial of the graph with trained coefficients.

Z = Σ_k θ_k T^{s k} H,    H = MLP(X),    s = 1, or 2 for even hops only
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from gadc._base.scalars import check_count
from gadc.diffusion._polynomial import unchecked_polynomial
from gadc.models._fast.dropout import drop
from gadc.models._graph_model import GraphModel
from gadc.models._training.heads import MLP, build_head
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class LearnedFilter(GraphModel):
    """Base of these models.

    Args:
        num_steps: Largest power of the polynomial, 10 by default.
        dropout: Probability of dropout on the features, the hidden units and H, 0.5 by default.
        weight_decay: L2 penalty on the MLP only, 5e-4 by default.
    """

    drops_features: ClassVar[bool] = True
    stride: ClassVar[int] = 1  # hops between two powers

    num_steps: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(type(self).__name__, self.num_steps, "num_steps")
        self.first_weights()

    @abstractmethod
    def first_weights(self) -> list[float]:
        """Return θ as the training begins, one coefficient per power."""

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build the MLP and the filter."""
        mlp = build_head("mlp", in_features, num_classes, hidden=self.hidden, dropout=self.dropout)
        return PredictThenFilter(mlp, self.first_weights(), self.dropout, self.stride)

    def parameter_groups(self, module: nn.Module) -> list[dict[str, Any]] | None:
        """Apply weight decay to the MLP and not to θ."""
        module = cast("PredictThenFilter", module)
        return [
            {"params": module.mlp.parameters()},
            {"params": [module.weights], "weight_decay": 0.0},
        ]


class PredictThenFilter(nn.Module):
    """An MLP and a polynomial with learned coefficients.

    Args:
        mlp: Predicts the scores of each node from its features.
        weights: Coefficients θ as the training begins.
        dropout: Probability of dropout on the predictions.
        stride: Hops between two powers.
    """

    def __init__(self, mlp: MLP, weights: list[float], dropout: float, stride: int) -> None:
        super().__init__()
        self.mlp, self.dropout, self.stride = mlp, dropout, stride
        self.weights = nn.Parameter(torch.tensor(weights))

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        """Score all nodes."""
        return self.filter(drop(self.mlp(x), self.dropout, training=self.training), graph)

    def filter(self, predicted: Tensor, graph: LinearOperator) -> Tensor:
        """Apply the polynomial to predictions of all nodes."""
        spread = pad(self.weights.unsqueeze(1), (0, self.stride - 1)).flatten()  # 0 for the other powers
        theta = spread[: len(spread) - self.stride + 1]
        return unchecked_polynomial(graph, predicted, theta)
