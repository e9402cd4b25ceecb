"""How alike nodes are by their features: cosines on the edges, and the size of all products."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from gadc._base.magnitude import frobenius_norm, usual_rows
from gadc._base.memo import remembered
from gadc.operators import LinearOperator, SparsePattern, sddmm


def unit_rows(x: Tensor) -> Tensor:
    """Divide each row by its ℓ2 norm; a zero row stays zero, also for the gradient."""
    squares = x.square().sum(1)
    usual = usual_rows(x, squares)
    if usual is not x:
        x, squares = usual, usual.square().sum(1)
    safe = torch.where(squares > 0, squares, torch.ones_like(squares))
    return x / safe.sqrt().unsqueeze(1)


def cosines(x: Tensor, pattern: SparsePattern) -> Tensor:
    """Compute cos(X_i, X_j) for every entry (i, j) of a pattern; 0 where a row is zero.

    Args:
        x: Features X, shape (n, d).
        pattern: Entries of an n × n matrix.

    Returns:
        One cosine per entry, shape (entries,), differentiable in `x`.
    """
    directions = unit_rows(x)
    return sddmm(pattern, directions, directions)


def edge_cosines(x: Tensor, graph: LinearOperator, *, power: float = 1.0) -> LinearOperator:
    """Multiply every weight of a graph by the cosine of the features of its ends.

    Args:
        x: Features X, shape (n, d).
        graph: A, without a low-rank part.
        power: Exponent of the cosines, 1 by default; with another one, a cosine below 0 counts as 0.

    Returns:
        The graph with the new weights, differentiable in `x` and in the old ones.
    """
    factors = remembered("cosines", (x, graph.pattern), lambda: cosines(x, graph.pattern))
    if power != 1:
        factors = factors.clamp(min=0) ** power
    return replace(graph, values=graph.values * factors, bounds=None)


def gram_norm(x: Tensor, *, owner: str = "gram_norm") -> Tensor:
    """Compute ‖X Xᵀ‖_F from the smaller of X Xᵀ and Xᵀ X; refuse features where it is 0 or overflows."""
    norm = remembered("gram norm", (x,), lambda: frobenius_norm(x.T @ x if len(x) >= x.shape[1] else x @ x.T))
    if norm == 0 and not x.any():
        raise ValueError(f"{owner}: all features in x are zero, so Φ = X Xᵀ / ‖X Xᵀ‖_F is 0/0.")
    if norm == 0 or not norm.isfinite():
        raise ValueError(
            f"{owner}: ‖X Xᵀ‖_F must fit into the type of x, {x.dtype}, got {float(norm)}, with entries of x "
            f"up to {float(x.detach().abs().max()):.3g}; bring x to a usual scale, or pass float64."
        )
    return norm
