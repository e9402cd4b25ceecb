"""AirGNN: proximal steps with one adaptive residual per node.

X. Liu, Ding, Jin, Xu, Ma, Z. Liu and Tang, "Graph Neural Networks with Adaptive Residual", NeurIPS 2021. It
minimises

    λ Σ_i ‖x_i - h_i‖₂ + (1-λ) tr(Xᵀ L̃ X),    H = MLP(X),    L̃ = I - Â

with step size 1/(2(1-λ)): the smooth part turns X into Y = Â X, and the proximal operator of the first part
draws each row of Y to h_i by at most λ/(2(1-λ)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from gadc._base.scalars import check_count
from gadc.models._graph_model import GraphModel
from gadc.models._training.heads import MLP, build_head
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class AirGNN(GraphModel):
    """MLP, then K adaptive steps.

    Args:
        lam: Weight λ of the distance to H, from 0 (plain averaging) to below 1 (H itself) (default
            0.1).
        num_steps: Number K of proximal steps (default 10).
        dropout: Probability of dropout on the features and the hidden units (default 0.8).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import AirGNN
        >>> AirGNN(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    drops_features: ClassVar[bool] = True

    lam: float = 0.1
    num_steps: int = 10
    dropout: float = 0.8
    epochs: int = 1000
    patience: int | None = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("AirGNN", self.num_steps, "num_steps")
        if not 0 <= self.lam < 1:
            raise ValueError(f"AirGNN: lam must lie in [0, 1), got {self.lam!r}.")

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build the MLP and the proximal steps."""
        mlp = build_head("mlp", in_features, num_classes, hidden=self.hidden, dropout=self.dropout)
        return _AdaptiveResidual(mlp, self.lam / (2 * (1 - self.lam)), self.num_steps)


class _AdaptiveResidual(nn.Module):
    def __init__(self, mlp: MLP, threshold: float, num_steps: int) -> None:
        super().__init__()
        self.mlp, self.threshold, self.num_steps = mlp, threshold, num_steps

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        predicted: Tensor = self.mlp(x)
        out = predicted
        for _ in range(self.num_steps):
            out = predicted + shrink_rows(graph @ out - predicted, self.threshold)
        return out


def shrink_rows(rows: Tensor, threshold: float) -> Tensor:
    """Shorten each row by `threshold`, down to 0: the proximal operator of `threshold` times the ℓ21 norm."""
    squares = rows.square().sum(1, keepdim=True)
    occupied = squares > 0
    norms = torch.where(occupied, squares, 1.0).sqrt()  # the slope of a root at 0 is infinite
    return rows * torch.where(occupied, (1 - threshold / norms).clamp(min=0), 0.0)
