"""GCN: rounds of normalised neighbour averaging, each behind a linear map.

Kipf and Welling, "Semi-Supervised Classification with Graph Convolutional Networks", ICLR 2017.

    Z = Â drop(ReLU(Â drop(X) W₁ + b₁)) W₂ + b₂
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from gadc._base.scalars import check_choice, check_count
from gadc.models._fast.dropout import drop
from gadc.models._graph_model import GraphModel
from gadc.models._training.heads import INITS, MLP
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class GCN(GraphModel):
    """Graph convolutional network.

    Args:
        num_layers: Number of convolutions (default 2).
        input_dropout: Whether dropout acts on the features, too (default True).
        activation: "relu", or "none" for the linear network of the adaptive attacks (default "relu").
        init: "default" (Glorot, biases 0), "uniform" or "shifted", see `gadc.models._training.heads`.
        selection: Rule of model selection; the published scripts use "window" on noise and "val-last"
            on attacks.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import GCN
        >>> GCN(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    hidden: int = 16
    num_layers: int = 2
    input_dropout: bool = True
    activation: str = "relu"
    init: str = "default"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("GCN", self.num_layers, "num_layers", low=1)
        check_choice("GCN", self.activation, "activation", ("relu", "none"))
        check_choice("GCN", self.init, "init", INITS)

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build the convolutions."""
        widths = [in_features, *[self.hidden] * (self.num_layers - 1), num_classes]
        return _Convolutions(widths, self)

    @property
    def drops_features(self) -> bool:
        """Return whether dropout acts on the features."""
        return self.input_dropout

    @property
    def receptive_hops(self) -> int:
        """Return the number of layers: one hop per layer."""
        return self.num_layers


class _Convolutions(nn.Module):
    def __init__(self, widths: list[int], settings: GCN) -> None:
        super().__init__()
        self.layers = MLP(widths, init=settings.init).layers
        self.dropout = settings.dropout
        self.input_dropout = settings.dropout if settings.input_dropout else 0.0
        self.rectify = settings.activation == "relu"
        if settings.init == "default":
            for layer in self.layers:
                nn.init.xavier_uniform_(layer.weight)  # type: ignore[arg-type]
                nn.init.zeros_(layer.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        for number, layer in enumerate(self.layers):
            if number > 0 and self.rectify:
                x = torch.relu(x)
            dropout = self.dropout if number > 0 else self.input_dropout
            narrow = linear(drop(x, dropout, training=self.training), layer.weight)  # type: ignore[arg-type]
            x = graph @ narrow + layer.bias  # type: ignore[operator]
        return x
