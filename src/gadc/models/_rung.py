"""RUNG: smoothing that stops at edges across which the signal jumps.

Hou, Feng, Derr and X. Liu, "Robust Graph Neural Networks via Unbiased Aggregation", NeurIPS 2024. It lowers

    Σ_(i,j) a_ij ρ(y_ij) + λ Σ_i ‖f_i - h_i‖²,    y_ij = ‖f_i/√d_i - f_j/√d_j‖,    H = MLP(X)

with the minimax concave penalty ρ(y) = y - y²/(2γ) for y < γ and γ/2 beyond, and d the degrees of A + I. Each
step re-weights the edges by ρ'(y)/(2y) and solves for F with the neighbours held fixed:

    w_ij = max(0, 1/(2 y_ij) - 1/(2γ)),   y_ij >= 0.01
    F <- (λ H + (w ⊙ Â) F) / (λ + q),     q_i = Σ_j w_ij a_ij / d_i,    Â = D^-1/2 A D^-1/2 without loops

With w = 1 the steps are those of a plain diffusion. The published code holds w constant when it is attacked;
here the scores are differentiated through w as well, so an attack sees the defence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Tensor, nn

from gadc._base.scalars import check_count, check_number
from gadc.diffusion._graph import adjacency
from gadc.models._graph_model import GraphModel
from gadc.models._training.heads import MLP, build_head
from gadc.operators import LinearOperator, row_sums

_NEAREST = 0.01  # distances below it count as it, since the weight of an edge is 1/(2y)


@dataclass(frozen=True, kw_only=True)
class RUNG(GraphModel):
    """MLP, then K steps that re-weight the edges.

    Args:
        gamma: Distance γ > 0 beyond which an edge has no weight, 3 by default.
        fidelity: Share λ/(1+λ) of the MLP in a plain step, in (0, 1); 0.1 by default, as published
            (λ̂ = 0.9).
        num_steps: Number K of steps, 10 by default.
        dropout: Probability of dropout on the features and the hidden units, 0.5 by default.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import RUNG
        >>> RUNG(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    drops_features: ClassVar[bool] = True

    gamma: float = 3.0
    fidelity: float = 0.1
    num_steps: int = 10
    lr: float = 0.05
    epochs: int = 300

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("RUNG", self.gamma, "gamma", strict=True)
        check_count("RUNG", self.num_steps, "num_steps")
        if not 0 < self.fidelity < 1:
            raise ValueError(f"RUNG: fidelity must lie in (0, 1), got {self.fidelity!r}.")

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build the MLP and the steps."""
        mlp = build_head("mlp", in_features, num_classes, hidden=self.hidden, dropout=self.dropout)
        return _Unbiased(mlp, self)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return the adjacency A."""
        return adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner="RUNG")

    def smooth(self, h: Tensor, graph: LinearOperator) -> Tensor:
        """Return F after K steps that start at H, over A."""
        rows, cols = graph.pattern.rows.long(), graph.pattern.cols.long()
        degrees = row_sums(graph.pattern, graph.values) + 1
        scale = degrees.rsqrt().unsqueeze(1)
        lam = self.fidelity / (1 - self.fidelity)
        f = h
        for _ in range(self.num_steps):
            scaled = f * scale
            weights = graph.values * self.edge_weights(scaled, rows, cols)
            inner = (replace(graph, values=weights) @ scaled) * scale
            share = (row_sums(graph.pattern, weights) / degrees).unsqueeze(1)
            f = (lam * h + inner) / (lam + share)
        return f

    def edge_weights(self, scaled: Tensor, rows: Tensor, cols: Tensor) -> Tensor:
        """Return w of each pair, from the rows of D^-1/2 F."""
        squares = (scaled[rows] - scaled[cols]).square().sum(1)
        distance = squares.clamp(min=_NEAREST**2).sqrt()  # the slope of a root at 0 is infinite
        return (0.5 / distance - 0.5 / self.gamma).clamp(min=0)


class _Unbiased(nn.Module):
    def __init__(self, mlp: MLP, settings: RUNG) -> None:
        super().__init__()
        self.mlp, self.settings = mlp, settings

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        return self.settings.smooth(self.mlp(x), graph)
