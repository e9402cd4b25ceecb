"""IRLS (TWIRLS): descent on a graph-smoothing energy, with edges re-weighted between the steps.

Y. Yang, T. Liu, Y. Wang, Zhou, Gan, Wei, Z. Zhang, Huang and Wipf, "Graph Neural Networks Inspired by
Classical Iterative Algorithms", ICML 2021.

    E(Y) = ‖Y - f(X)‖² + λ tr(Yᵀ L Y),    L = D - A,    M = λ D + I
    Y <- (1 - α) Y + α M^-1 (λ A Y + f(X))          from Y = f(X): a step of descent preconditioned by M

Robust edges replace ‖y_i - y_j‖² in the energy by a concave function of it. Its slope γ_ij at the current
Y multiplies A, and D becomes the degrees of γ A:

    γ_ij = 1 / max(s, τ),  and 0 where s > T,       s = ‖y_i - y_j‖^{2-p}
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from gadc._base.scalars import check_choice, check_count, check_number
from gadc.diffusion._graph import add_self_loops, adjacency, normalize
from gadc.models._linear_propagation import LinearPropagation
from gadc.models._training.heads import MLP
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class IRLS(LinearPropagation):
    """Unfolded iteratively re-weighted least squares.

    Args:
        lam: Strength λ of the smoothing (default 1.0).
        alpha: Step size α (default 1.0).
        num_steps: Number K of descent steps (default 16).
        step: "preconditioned" as above, or "published" for Y <- (1-α) Y + αλ Â Y + α D^-1 f(X), which
            the published scripts run (with α = λ = 1 it grows with K and does not converge) (default
            "preconditioned").
        reweight: Whether edges are re-weighted; the published scripts do not (default True).
        every: Number of steps between two re-weightings; the first one precedes the first step
            (default 4).
        p: Exponent of the robust penalty, from 0 to 2 (default 1.0).
        tau: Floor τ > 0 of s (default 0.2).
        cut: Threshold T above which an edge is dropped; None drops no edge.
        num_layers: Number of layers of f; with one layer f is linear (default 1).
        dropout: Probability of dropout on the features and on hidden units of f.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import IRLS
        >>> IRLS(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    drops_features: ClassVar[bool] = True

    lam: float = 1.0
    alpha: float = 1.0
    num_steps: int = 16
    step: str = "preconditioned"
    reweight: bool = True
    every: int = 4
    p: float = 1.0
    tau: float = 0.2
    cut: float | None = None
    num_layers: int = 1
    lr: float = 0.1
    epochs: int = 500

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("IRLS", self.lam, "lam")
        check_number("IRLS", self.alpha, "alpha", strict=True)
        check_count("IRLS", self.num_steps, "num_steps")
        check_choice("IRLS", self.step, "step", ("preconditioned", "published"))
        check_count("IRLS", self.every, "every", low=1)
        check_number("IRLS", self.tau, "tau", strict=True)
        check_count("IRLS", self.num_layers, "num_layers", low=1)
        if not 0 <= self.p <= 2:
            raise ValueError(f"IRLS: p must lie in [0, 2], got {self.p!r}.")
        if self.cut is not None:
            check_number("IRLS", self.cut, "cut", strict=True)
        if self.step == "published" and self.reweight:
            raise ValueError("IRLS: the published step has no robust edges, got reweight=True.")

    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """Build the map f and the descent."""
        return _Unfolded([in_features, *[self.hidden] * (self.num_layers - 1), num_classes], self)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return the adjacency A."""
        return adjacency(edge_index, edge_weight, len(x), dtype=x.dtype, owner="IRLS")

    @property
    def linear(self) -> bool:
        """Return whether the propagation is linear, which it is without re-weighting."""
        return not self.reweight

    def propagate(self, predicted: Tensor, graph: LinearOperator) -> Tensor:
        """Return Y after K steps that start at f, over A."""
        if self.step == "published":
            return self._published(predicted, graph)
        y, edges = predicted, graph
        for number in range(self.num_steps):
            if self.reweight and number % self.every == 0:
                edges = replace(graph, values=graph.values * self.edge_weights(y, graph))
            target = torch.add(predicted, edges @ y, alpha=self.lam) / (self.lam * _degrees(edges) + 1)
            y = self._towards(target, y)
        return y

    def edge_weights(self, y: Tensor, graph: LinearOperator) -> Tensor:
        """Return γ of each entry of the graph."""
        rows, cols = graph.pattern.rows.long(), graph.pattern.cols.long()
        squares = (y[rows] - y[cols]).square().sum(1)
        power = 1 - self.p / 2
        if power == 0:
            return torch.ones_like(squares) / max(1.0, self.tau)
        # The floor goes to the squares, since the gradient of a root at 0 is infinite.
        root = squares.clamp(min=self.tau ** (1 / power)) ** power
        limit = math.inf if self.cut is None else self.cut
        return torch.where(root > limit, 0.0, 1 / root)

    def _published(self, f: Tensor, graph: LinearOperator) -> Tensor:
        operator = normalize(add_self_loops(graph, 1.0), "sym", owner="IRLS")
        degrees = _degrees(graph)  # without the loop that the operator has
        occupied = degrees > 0
        source = torch.where(occupied, f / torch.where(occupied, degrees, 1.0), 0.0)
        y = f
        for _ in range(self.num_steps):
            y = self._towards(torch.add(source, operator @ y, alpha=self.lam), y)
        return y

    def _towards(self, target: Tensor, y: Tensor) -> Tensor:
        """Return (1 - α) Y + α times the target."""
        return target if self.alpha == 1 else torch.lerp(y, target, self.alpha)


class _Unfolded(nn.Module):
    def __init__(self, widths: list[int], settings: IRLS) -> None:
        super().__init__()
        self.mlp = MLP(widths, dropout=settings.dropout)
        self.settings = settings
        for layer in self.mlp.layers:
            nn.init.xavier_normal_(layer.weight)  # type: ignore[arg-type]
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor, graph: LinearOperator) -> Tensor:
        return self.settings.propagate(self.mlp(x), graph)


def _degrees(graph: LinearOperator) -> Tensor:
    """Return the row sums as a column."""
    zeros = torch.zeros(graph.shape[0], dtype=graph.dtype, device=graph.device)
    return zeros.index_add(0, graph.pattern.rows.long(), graph.values).unsqueeze(1)
