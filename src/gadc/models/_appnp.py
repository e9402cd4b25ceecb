"""APPNP: an MLP predicts, then personalised PageRank spreads the predictions.

Klicpera, Bojchevski and Günnemann, "Predict then Propagate: Graph Neural Networks meet Personalized
PageRank", ICLR 2019.

    H = MLP(X),    Z⁰ = H,    Z^{k+1} = (1 - α) Â Z^k + α H
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from torch import Tensor, nn

from gadc.diffusion import appnp
from gadc.diffusion._polynomial import unchecked_polynomial
from gadc.models._fast.dropout import drop
from gadc.models._linear_propagation import LinearPropagation
from gadc.models._training.heads import MLP, build_head
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class APPNP(LinearPropagation):
    """MLP, then K steps of PageRank.

    Args:
        alpha: Restart probability α (default 0.1).
        num_steps: Number K of PageRank steps.
        dropout: Probability of dropout on the features and the hidden units.
        edge_dropout: Probability of dropout on the entries of Â, drawn again in every step; the
            published scripts use 0 (default 0.5).
        weight_decay: L2 penalty on the first layer only (default 0.005).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import APPNP
        >>> APPNP(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    drops_features: ClassVar[bool] = True

    alpha: float = 0.1
    edge_dropout: float = 0.5
    weight_decay: float = 5e-3
    epochs: int = 10000
    patience: int | None = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        appnp(self.alpha, self.num_steps)
        if not 0 <= self.edge_dropout < 1:
            raise ValueError(f"APPNP: edge_dropout must lie in [0, 1), got {self.edge_dropout!r}.")

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build the MLP and the propagation."""
        mlp = build_head("mlp", in_features, num_classes, hidden=self.hidden, dropout=self.dropout)
        return _PredictThenPropagate(mlp, self)

    @property
    def linear(self) -> bool:
        """Return whether the propagation is linear, which it is without edge dropout."""
        return self.edge_dropout == 0

    def propagate(self, predicted: Tensor, graph: LinearOperator) -> Tensor:
        """Apply K steps of PageRank."""
        return unchecked_polynomial(graph, predicted, appnp(self.alpha, self.num_steps))

    def parameter_groups(self, module: nn.Module) -> list[dict[str, Any]] | None:
        """Apply weight decay to the first layer only: the penalty λ/2 (‖W₁‖² + ‖b₁‖²)."""
        first = list(module.mlp.layers[0].parameters())  # type: ignore[union-attr,index]
        rest = [one for one in module.parameters() if all(one is not other for other in first)]
        return [{"params": first}, {"params": rest, "weight_decay": 0.0}]


class _PredictThenPropagate(nn.Module):
    def __init__(self, mlp: MLP, settings: APPNP) -> None:
        super().__init__()
        self.mlp, self.settings = mlp, settings

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        settings = self.settings
        predicted: Tensor = self.mlp(x)
        if settings.linear or not self.training:
            return settings.propagate(predicted, graph)
        out = predicted
        for _ in range(settings.num_steps):
            dropped = replace(graph, values=drop(graph.values, settings.edge_dropout), symmetric=False)
            out = (1 - settings.alpha) * (dropped @ out) + settings.alpha * predicted
        return out
