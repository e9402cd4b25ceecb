"""Figures of the paper that are no accuracies: the error analysis, the connectivity factor, the cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch_geometric.data import Data

from gadc.diffusion import diffuse, neumann, polynomial
from gadc.rows import normalize_rows
from gadc.theory import connectivity_factor
from gadc.transitions import transition


def own_equation_error(
    data: Data, seed: int, *, solution: str, lam: float = 1.0, num_steps: int = 16, eps: float = 1.0
) -> float:
    """‖F - p(T(F)) X‖_F: how far a solution is from its own equation (Eq. 14).

    Args:
        data: Raw features and edges.
        seed: Of the random solution.
        solution: "gadc" for the closed form, "random" for entries from N(1, 1).
        lam: λ.
        num_steps: K.
        eps: ε.
    """
    x = data.x.double()
    if solution == "gadc":
        F = diffuse(
            x, data.edge_index, variant="II", lam=lam, num_steps=num_steps, eps=eps, check_convergence=False
        )
    else:
        F = 1 + torch.randn(x.shape, generator=torch.Generator().manual_seed(seed), dtype=x.dtype)
    operator = transition(F, data.edge_index, variant="II", eps=eps)
    return float((F - polynomial(operator, x, neumann(lam, num_steps))).norm())


def connectivity(
    data: Data,
    seed: int,
    *,
    variant: str,
    eps: float = 1.0,
    lam: float = 32.0,
    num_steps: int = 32,
    norm: str = "rw",
    normalize: str = "none",
) -> float:
    """τ of the graph's diffusion."""
    x = normalize_rows(data.x, normalize)
    operator = transition(x, data.edge_index, variant=variant, eps=eps, norm=norm)
    return connectivity_factor(operator, lam=lam, num_steps=num_steps, seed=seed).value


def aggregation_seconds(data: Data, seed: int, **settings: Any) -> float:
    """Wall-clock time of one aggregation."""
    start = time.perf_counter()
    diffuse(data.x, data.edge_index, check_convergence=False, **settings)
    return time.perf_counter() - start


MEASURES: dict[str, Callable[..., float]] = {
    "error-analysis": own_equation_error,
    "connectivity": connectivity,
    "aggregation-seconds": aggregation_seconds,
}
