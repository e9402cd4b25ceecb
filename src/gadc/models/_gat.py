"""GAT: neighbours are averaged with weights that attention learns.

Veličković, Cucurull, Casanova, Romero, Liò and Bengio, "Graph Attention Networks", ICLR 2018.

    e_ij = LeakyReLU(aᵀ [W x_i ‖ W x_j])        slope 0.2
    α_ij = w_ij exp(e_ij) / Σ_l w_il exp(e_il)  over the neighbours and i itself (w_ii = 1)
    out_i = Σ_j drop(α_ij) W x_j + b            per head; concatenated, then ELU; averaged in the last layer

Edge weights are not in the paper. At this place, weights of 1 give the paper's formula, and an edge of weight
0 has no effect and a finite gradient. PyG's `GATConv` does not offer this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import elu

from gadc._base.scalars import check_count, check_number
from gadc.diffusion._graph import add_self_loops, adjacency
from gadc.models._fast.attention import edge_softmax, weighted_sums
from gadc.models._fast.dropout import drop
from gadc.models._graph_model import GraphModel
from gadc.operators import LinearOperator

SLOPE = 0.2


@dataclass(frozen=True, kw_only=True)
class GAT(GraphModel):
    """Two layers of attention.

    Args:
        hidden: Number of units per head in the first layer (default 8).
        heads: Number of heads of the first layer, which are concatenated (default 8).
        output_heads: Number of heads of the second layer, which are averaged (default 1).
        dropout: Probability of dropout on the features, on the hidden units and on the attention
            (default 0.6).
        elu_scale: Scale of the ELU. The published scripts on noise use 0.2, the slope of the
            attention (default 1.0).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import GAT
        >>> GAT(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    drops_features: ClassVar[bool] = True
    receptive_hops: ClassVar[int] = 2

    hidden: int = 8
    heads: int = 8
    output_heads: int = 1
    dropout: float = 0.6
    elu_scale: float = 1.0
    lr: float = 0.005
    epochs: int = 1000
    selection: str = "val-both"
    patience: int | None = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("GAT", self.heads, "heads", low=1)
        check_count("GAT", self.output_heads, "output_heads", low=1)
        check_number("GAT", self.elu_scale, "elu_scale", strict=True)

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build both layers."""
        return _Network(in_features, num_classes, self)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return Ã, whose entries weigh the attention."""
        return add_self_loops(adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner="GAT"), 1.0)


class _Network(nn.Module):
    def __init__(self, in_features: int, num_classes: int, settings: GAT) -> None:
        super().__init__()
        joined = settings.heads * settings.hidden
        self.first = Attention(in_features, settings.hidden, settings.heads, settings.dropout)
        self.second = Attention(joined, num_classes, settings.output_heads, settings.dropout)
        self.elu_scale = settings.elu_scale

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        hidden = elu(self.first(x, graph).flatten(1), alpha=self.elu_scale)
        scores: Tensor = self.second(hidden, graph).mean(1)
        return scores


class Attention(nn.Module):
    """One attention layer that maps shape (n, in_features) to (n, heads, units).

    Args:
        in_features: Width of the input.
        units: Width of each head.
        heads: Number of heads.
        dropout: Probability of dropout on the input and on the attention.
    """

    def __init__(self, in_features: int, units: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, heads * units, bias=False)
        self.attention = nn.Parameter(torch.empty(2, heads, units))  # of the receiving and the sending node
        self.bias = nn.Parameter(torch.zeros(heads, units))
        self.dropout = dropout
        nn.init.xavier_uniform_(self.linear.weight)
        for part in self.attention:
            nn.init.xavier_uniform_(part)

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        """Attend to the neighbours in `graph`, whose values weigh them."""
        _, heads, units = self.attention.shape
        mapped = self.linear(drop(x, self.dropout, training=self.training)).view(-1, heads, units)
        receive, send = torch.einsum("nhu,khu->knh", mapped, self.attention).contiguous()
        weights = edge_softmax(graph.pattern, graph.values, receive, send, SLOPE)
        weights = drop(weights, self.dropout, training=self.training)
        return weighted_sums(graph.pattern, weights, mapped) + self.bias
