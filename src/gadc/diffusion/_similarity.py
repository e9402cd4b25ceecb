"""How alike nodes are by their features: cosines on the edges, and the size of all products."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from gadc._base.memo import remembered
from gadc.operators import LinearOperator
from gadc.operators._pattern import SparsePattern
from gadc.operators._products import sddmm


def edge_cosines(x: Tensor, graph: LinearOperator, *, power: float = 1.0) -> LinearOperator:
    """The graph with every weight multiplied by the cosine of its ends' features; 0 for a zero row.

    With a `power` other than 1, by that power of the cosine, and by 0^power where the cosine is below 0.
    """
    cosines = remembered("cosines", (x, graph.pattern), lambda: _cosines(x, graph.pattern))
    if power != 1:
        cosines = cosines.clamp(min=0) ** power
    return replace(graph, values=graph.values * cosines, bounds=None)


def _cosines(x: Tensor, pattern: SparsePattern) -> Tensor:
    squares = x.square().sum(1)
    occupied = squares > 0
    safe = torch.where(occupied, squares, torch.ones_like(squares))
    directions = x / safe.sqrt().unsqueeze(1)
    return sddmm(pattern, directions, directions)


def gram_norm(x: Tensor, *, owner: str = "gram_norm") -> Tensor:
    """‖X Xᵀ‖_F, from the smaller of X Xᵀ and Xᵀ X."""
    norm = remembered("gram norm", (x,), lambda: frobenius_norm(x.T @ x if len(x) >= x.shape[1] else x @ x.T))
    if norm == 0 and not x.any():
        raise ValueError(f"{owner}: all features in x are zero, so Φ = X Xᵀ / ‖X Xᵀ‖_F is 0/0.")
    if norm == 0 or not norm.isfinite():
        raise ValueError(
            f"{owner}: ‖X Xᵀ‖_F must fit into the type of x, {x.dtype}, got {float(norm)}, with entries of x "
            f"up to {float(x.detach().abs().max()):.3g}; bring x to a usual scale, or pass float64."
        )
    return norm


def frobenius_norm(values: Tensor) -> Tensor:
    """‖values‖_F, also where the squares of the entries do not fit into their type."""
    top = float(values.detach().abs().max()) if values.numel() else 0.0
    # A power of two rounds nothing, so that usual values have their usual norm to the last bit.
    unit = 2.0 ** (math.frexp(top)[1] - 1) if 0 < top < math.inf else 1.0
    norm: Tensor = unit * torch.linalg.vector_norm(values / unit)
    return norm
