"""GNNGuard: every layer lowers the weight of edges between nodes whose states differ.

X. Zhang and Zitnik, "GNNGuard: Defending Graph Neural Networks against Adversarial Attacks", NeurIPS 2020.

    s_uv = w_uv cos(h_u, h_v) on edges,    N_u = Σ_v w_uv over the v with s_uv > 0
    α_uv = s_uv / Σ_v s_uv · N_u / (N_u + 1),    α_uu = 1 / (N_u + 1)             a row of α sums to 1
    ω¹ = α¹,  ω^k = β ω^{k-1} + (1-β) α^k,    β = sigmoid of a learned number      memory
    H <- D_ω^-1/2 ω D_ω^-1/2 H W + b

Pruning drops an edge where sigmoid(c · [α_uv, α_vu]) <= ½; c is learned through the sigmoid, since the drop
itself has no gradient. An edge that a layer drops, or whose cosine counts as 0, is missing in all later
layers. Cosines below 0 count as 0. Edge weights w are not in the paper; weights of 1 give its formulas.

Training treats the cosines as constants, as the authors do. In evaluation mode gradients pass through them,
so an attack sees the whole defence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gadc._base.memo import remembered
from gadc._base.scalars import check_count, check_number
from gadc.diffusion._graph import adjacency, normalize
from gadc.diffusion._similarity import edge_cosines
from gadc.models._fast.dropout import drop
from gadc.models._graph_model import GraphModel
from gadc.operators import LinearOperator

SMALLEST = 1e-6  # smaller sums of similarities are not used as a divisor


@dataclass(frozen=True, kw_only=True)
class GNNGuard(GraphModel):
    """GCN whose layers re-weight their edges by the similarity of hidden states.

    Args:
        num_layers: Number of convolutions (default 2).
        threshold: Cosines below this value count as 0; the authors' code uses 0.1 (default 0.0).
        memory: Whether a layer mixes in the edge weights of the layer before (default True).
        prune: Whether edges are dropped by the learned rule; the authors' code leaves it off (default
            False).
        dropout: Probability of dropout on the hidden units.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import GNNGuard
        >>> GNNGuard(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    num_layers: int = 2
    threshold: float = 0.0
    memory: bool = True
    prune: bool = False
    hidden: int = 16
    selection: str = "val-last"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("GNNGuard", self.num_layers, "num_layers", low=1)
        check_number("GNNGuard", self.threshold, "threshold")

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build the convolutions."""
        return _Guarded([in_features, *[self.hidden] * (self.num_layers - 1), num_classes], self)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return A with room for the diagonal of α."""
        return adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner="GNNGuard")


class Guard(NamedTuple):
    """Edge weights of a layer, and which entries of the pattern are still allowed."""

    weights: LinearOperator
    alive: Tensor


def guard(x: Tensor, graph: LinearOperator, *, threshold: float = 0.0) -> Guard:
    """Return α of the states x over A: rows that sum to 1, with more weight on similar neighbours.

    Args:
        x: States, shape (n, width).
        graph: A, with an explicit diagonal.
        threshold: Cosines below this value count as 0, which is the default.

    Examples:
        >>> import torch
        >>> from gadc.diffusion import Plain
        >>> x, edges = torch.ones(2, 1), torch.tensor([[0], [1]])
        >>> guard(x, Plain(self_loops=0.0)(x, edges)).weights.to_dense()
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """
    rows, diagonal = graph.pattern.rows.long(), graph.pattern.diagonal
    cosines = edge_cosines(x, replace(graph, values=torch.ones_like(graph.values))).values
    alive = (cosines > 0) & (cosines >= threshold)
    alive[diagonal] = False  # A has no loops
    similar = torch.where(alive, graph.values * cosines, 0.0)
    zeros = torch.zeros(graph.shape[0], dtype=graph.dtype, device=graph.device)
    total = zeros.index_add(0, rows, similar)
    count = zeros.index_add(0, rows, torch.where(alive, graph.values, 0.0))
    scale = torch.where(total > SMALLEST, count / total.clamp(min=SMALLEST), count) / (count + 1)
    values = (similar * scale[rows]).index_add(0, diagonal, 1 / (count + 1))
    return Guard(replace(graph, values=values, symmetric=False, bounds=None), alive)


class GuardConv(nn.Module):
    """One convolution with re-weighted edges.

    Args:
        in_features: Width of the input.
        out_features: Width of the output.
        threshold: Cosines below this value count as 0.
        memory: Whether the weights of the layer before are mixed in.
        prune: Whether edges are dropped by the learned rule.

    Shapes:
        x (n, in_features), graph (n, n) -> (n, out_features), and the edge weights.

    Examples:
        >>> import torch
        >>> from gadc.diffusion import Plain
        >>> x, edges = torch.rand(3, 2), torch.tensor([[0, 1], [1, 2]])
        >>> out, weights = GuardConv(2, 4)(x, Plain(self_loops=0.0)(x, edges))
        >>> out.shape
        torch.Size([3, 4])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        threshold: float = 0.0,
        memory: bool = True,
        prune: bool = False,
    ) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_features))
        self.gate = nn.Parameter(torch.zeros(())) if memory else None
        self.rule = nn.Parameter(torch.randn(2)) if prune else None
        self.threshold = threshold
        nn.init.xavier_uniform_(self.linear.weight)

    def forward(self, x: Tensor, graph: LinearOperator, before: Guard | None = None) -> tuple[Tensor, Guard]:
        """Return the new states and their edge weights; `before` are the weights of the layer before."""
        if before is not None:
            graph = replace(graph, values=torch.where(before.alive, graph.values, 0.0))
        states = x.detach() if self.training and x.requires_grad else x
        weights, alive = self._guard(states, graph, first=before is None)
        if before is not None:
            alive = alive & before.alive
        values = weights.values
        if self.rule is not None:
            keep = self._keep(weights, self.rule)
            alive = alive & (keep > 0.5)
            values = values * keep
        if before is not None and self.gate is not None:
            share = torch.sigmoid(self.gate)
            mixed = share * before.weights.values + (1 - share) * values
            present = alive.index_fill(0, weights.pattern.diagonal, True)
            values = torch.where(present, mixed, 0.0)
        weights = replace(weights, values=values)
        out: Tensor = normalize(weights, "sym", owner="GuardConv") @ self.linear(x) + self.bias
        return out, Guard(weights, alive)

    def _guard(self, states: Tensor, graph: LinearOperator, *, first: bool) -> Guard:
        """Return α of the states; α of the input features is the same in every epoch of a fit."""
        if not first:
            return guard(states, graph, threshold=self.threshold)
        inputs = states, graph.values, graph.pattern, self.threshold
        return remembered("guard", inputs, lambda: guard(states, graph, threshold=self.threshold))

    def _keep(self, weights: LinearOperator, rule: Tensor) -> Tensor:
        """Return 1 for an edge that stays and 0 for one that is dropped, with the gradient of the sigmoid."""
        _, mirror = weights.pattern.transposed
        chance = torch.sigmoid(rule[0] * weights.values + rule[1] * weights.values[mirror])
        keep = (chance > 0.5).to(chance.dtype) + (chance - chance.detach())
        return keep.index_fill(0, weights.pattern.diagonal, 1.0)


class _Guarded(nn.Module):
    def __init__(self, widths: list[int], settings: GNNGuard) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            GuardConv(*pair, threshold=settings.threshold, memory=settings.memory, prune=settings.prune)
            for pair in pairwise(widths)
        )
        self.dropout = settings.dropout

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        before: Guard | None = None
        for number, layer in enumerate(self.layers):
            if number > 0:
                x = drop(torch.relu(x), self.dropout, training=self.training)
            x, before = layer(x, graph, before)
        return x
