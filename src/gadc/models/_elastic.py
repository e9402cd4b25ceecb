"""Elastic GNN: smoothing that lets the signal jump between clusters.

X. Liu, Jin, Ma, Y. Li, H. Liu, Y. Wang, Yan and Tang, "Elastic Graph Neural Networks", ICML 2021. It
minimises

    ½‖F - H‖² + λ₂/2 tr(Fᵀ L̃ F) + λ₁ ‖Δ F‖₂₁,    H = MLP(X),    L̃ = I - Â = Δᵀ Δ

with Δ the oriented incidence times D̃^-1/2, by proximal steps in F and the dual Z, one row per edge:

    Y = γ H + (1-γ) Â F,    γ = 1/(1+λ₂),    β = 1/(2γ)
    Z <- projection of Z + β Δ (Y - γ Δᵀ Z),    F <- Y - γ Δᵀ Z,    from Z = 0, F = H

The projection shortens each row of Z to λ₁ at most; for the norm ‖Δ F‖₁ it clamps each entry to ±λ₁.

Edge weights are not in the paper. Here ‖Δ F‖₂₁ is Σ_e w_e ‖f_i/√d_i - f_j/√d_j‖, so that an edge of weight 0
has no effect and a finite gradient. In the rows of Z divided by √w_e the steps above stay as they are, with Δ
unweighted and w in Δᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from gadc._base.scalars import check_choice, check_count, check_number
from gadc.diffusion._graph import add_self_loops, adjacency, normalize
from gadc.models._graph_model import GraphModel
from gadc.models._training.heads import MLP, build_head
from gadc.operators import LinearOperator, row_sums, spmm, spmm_transposed


@dataclass(frozen=True, kw_only=True)
class ElasticGNN(GraphModel):
    """MLP, then K elastic steps.

    Args:
        lam1: Weight λ₁ of the ℓ1-like part (default 3.0).
        lam2: Weight λ₂ of the quadratic part (default 3.0).
        num_steps: Number K of elastic steps (default 10).
        norm: "l21" treats the columns of F together, "l1" treats each column by itself (default
            "l21").
        dropout: Probability of dropout on the features and the hidden units.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import ElasticGNN
        >>> ElasticGNN(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    drops_features: ClassVar[bool] = True

    lam1: float = 3.0
    lam2: float = 3.0
    num_steps: int = 10
    norm: str = "l21"
    epochs: int = 500
    selection: str = "val-acc"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("ElasticGNN", self.lam1, "lam1")
        check_number("ElasticGNN", self.lam2, "lam2")
        check_count("ElasticGNN", self.num_steps, "num_steps")
        check_choice("ElasticGNN", self.norm, "norm", ("l21", "l1"))

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build the MLP and the elastic steps."""
        mlp = build_head("mlp", in_features, num_classes, hidden=self.hidden, dropout=self.dropout)
        return _Elastic(mlp, self)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return Ã, whose degrees Δ needs."""
        graph = adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner="ElasticGNN")
        return add_self_loops(graph, 1.0)

    def descend(self, h: Tensor, graph: LinearOperator) -> Tensor:
        """Return F after K steps that start at H, over Ã."""
        gamma = 1 / (1 + self.lam2)
        beta = 1 / (2 * gamma)
        operator, incidence = normalize(graph, "sym", owner="ElasticGNN"), Incidence(graph)
        f, z = h, h.new_zeros(incidence.pattern.num_rows, h.shape[1])
        pull = torch.zeros_like(h)  # γ Δᵀ Z
        for _ in range(self.num_steps):
            y = gamma * h + (1 - gamma) * (operator @ f)
            z = self.project(z + beta * incidence(y - pull))
            pull = gamma * incidence.adjoint(z)
            f = y - pull
        return f

    def project(self, z: Tensor) -> Tensor:
        """Project every row onto the ball, or every entry onto the interval, of radius λ₁."""
        if self.norm == "l1":
            return z.clamp(-self.lam1, self.lam1)
        squares = z.square().sum(1, keepdim=True)
        smallest = max(self.lam1**2, torch.finfo(z.dtype).tiny)  # λ₁² may round to 0
        return z * (self.lam1 * squares.clamp(min=smallest).rsqrt())


class Incidence:
    """The incidence Δ of Ã: (Δ F)_e = f_i/√d_i - f_j/√d_j for each edge i < j; its adjoint has weights."""

    def __init__(self, graph: LinearOperator) -> None:
        self.pattern, edges = graph.pattern.incidence
        scale = row_sums(graph.pattern, graph.values).rsqrt()
        ends = scale[self.pattern.cols].view(-1, 2)
        signed = torch.stack([ends[:, 0], -ends[:, 1]], 1)
        self.slopes = signed.flatten()
        self.flows = (signed * graph.values[edges].unsqueeze(1)).flatten()

    def __call__(self, f: Tensor) -> Tensor:
        """Return Δ F."""
        return spmm(self.pattern, self.slopes, f)

    def adjoint(self, z: Tensor) -> Tensor:
        """Return Δᵀ (w ⊙ Z)."""
        return spmm_transposed(self.pattern, self.flows, z)


class _Elastic(nn.Module):
    def __init__(self, mlp: MLP, settings: ElasticGNN) -> None:
        super().__init__()
        self.mlp, self.settings = mlp, settings

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        return self.settings.descend(self.mlp(x), graph)
