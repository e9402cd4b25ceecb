"""EvenNet: a learned filter that never looks at neighbours an odd number of hops away.

Lei, Z. Wang, Y. Li, Ding and Wei, "EvenNet: Ignoring Odd-Hop Neighbors Improves Robustness of Graph Neural
Networks", NeurIPS 2022.

    Z = Σ_{k=0..⌊K/2⌋} w_k P^{2k} H,    H = MLP(X),    P = D^-1/2 A D^-1/2 without self-loops

w is learned. It starts at w_k = α (1-α)^{2k}, which for α near 1 is close to the MLP alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from gadc._base.scalars import check_count
from gadc.diffusion import Plain, ppr
from gadc.diffusion._polynomial import unchecked_polynomial
from gadc.models._fast.dropout import drop
from gadc.models._graph_model import GraphModel
from gadc.models._training.heads import MLP, build_head
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class EvenNet(GraphModel):
    """MLP, then a polynomial of even powers.

    Args:
        alpha: Restart probability α of the initial w (default 0.9).
        num_steps: Degree K of the polynomial (default 10).
        dropout: Probability of dropout on the features, the hidden units and H.
        weight_decay: L2 penalty on the MLP only.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import EvenNet
        >>> EvenNet(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    drops_features: ClassVar[bool] = True

    alpha: float = 0.9
    num_steps: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("EvenNet", self.num_steps, "num_steps")
        ppr(self.alpha, self.num_steps)

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build the MLP and the filter."""
        mlp = build_head("mlp", in_features, num_classes, hidden=self.hidden, dropout=self.dropout)
        return _EvenFilter(mlp, ppr(self.alpha, self.num_steps)[::2], self.dropout)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return P."""
        return Plain(self_loops=0.0)(x, edge_index, edge_weight)

    def parameter_groups(self, module: nn.Module) -> list[dict[str, Any]] | None:
        """Apply weight decay to the MLP and not to w."""
        return [
            {"params": module.mlp.parameters()},  # type: ignore[union-attr]
            {"params": [module.weights], "weight_decay": 0.0},
        ]


class _EvenFilter(nn.Module):
    def __init__(self, mlp: MLP, weights: list[float], dropout: float) -> None:
        super().__init__()
        self.mlp, self.dropout = mlp, dropout
        self.weights = nn.Parameter(torch.tensor(weights))

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        predicted = drop(self.mlp(x), self.dropout, training=self.training)
        theta = torch.stack([self.weights, torch.zeros_like(self.weights)], 1).flatten()[:-1]
        return unchecked_polynomial(graph, predicted, theta)
