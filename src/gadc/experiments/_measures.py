"""Figures of the paper that are not accuracies: error analysis, connectivity factor, cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.scalars import check_choice
from gadc.diffusion import connectivity_factor, diffuse, neumann, normalize_rows, polynomial, transition
from gadc.models import make_model


def own_equation_error(
    data: Data,
    seed: int,
    *,
    solution: str,
    lam: float = 1.0,
    num_steps: int = 16,
    eps: float = 1.0,
    relative: bool = False,
) -> float:
    """Measure ‖F - p(T(F)) X‖_F, the distance of a solution from its own equation (Eq. 14).

    Args:
        data: Raw features and edges.
        seed: Seed of the random solution.
        solution: "gadc" for the closed form, "random" for entries from N(1, 1).
        lam: Strength λ of the smoothing; 1 by default.
        num_steps: Number K of diffusion steps; 16 by default.
        eps: Radius ε of the adversary; 1 by default.
        relative: Whether to divide by ‖F‖_F and give percent; not by default.
    """
    x = data.x.double()
    theta = neumann(lam, num_steps)
    if solution == "gadc":
        F = polynomial(transition(x, data.edge_index, variant="II", eps=eps), x, theta)
    else:
        F = 1 + torch.randn(x.shape, generator=torch.Generator().manual_seed(seed), dtype=x.dtype)
    residual = F - polynomial(transition(F, data.edge_index, variant="II", eps=eps), x, theta)
    return float(100 * residual.norm() / F.norm() if relative else residual.norm())


def connectivity(
    data: Data,
    seed: int,
    *,
    graph: str | None = None,
    variant: str = "plain",
    eps: float = 1.0,
    lam: float = 32.0,
    num_steps: int = 32,
    normalize: str = "none",
) -> float:
    """Compute the connectivity factor τ of a diffusion with norm="rw".

    Args:
        data: Features and edges, used unless `graph` is given.
        seed: Seed of the probing vectors.
        graph: Name of a small graph, see `small_graph`.
        variant: Variant of the transition; "plain" by default.
        eps: Radius ε of the adversary; 1 by default.
        lam: Strength λ of the smoothing; 32 by default.
        num_steps: Number K of diffusion steps; 32 by default.
        normalize: Normalisation of the feature rows; "none" by default.
    """
    if graph is None:
        x, edge_index = normalize_rows(data.x, normalize), data.edge_index
    else:
        edge_index, n = small_graph(graph)
        x = torch.ones(n, 1)
    operator = transition(x.double(), edge_index, variant=variant, eps=eps, norm="rw")
    return connectivity_factor(operator, lam=lam, num_steps=num_steps, seed=seed).value


def small_graph(name: str) -> tuple[Tensor, int]:
    """Return the edges and the number of nodes of one of the paper's illustrations.

    Four isolated nodes, the star and the complete graph on four nodes, and the cube with its eight nodes. The
    paper shows a larger even graph in place of the cube, which its text does not describe.
    """
    check_choice("small_graph", name, "name", tuple(_SMALL_GRAPHS))
    num_nodes, edges = _SMALL_GRAPHS[name]
    return torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T, num_nodes


_SMALL_GRAPHS: dict[str, tuple[int, list[tuple[int, int]]]] = {
    "isolated": (4, []),
    "star": (4, [(0, leaf) for leaf in (1, 2, 3)]),
    "complete": (4, list(combinations(range(4), 2))),
    # corners are three bits; an edge changes one of them
    "cube": (8, [(u, u | bit) for u in range(8) for bit in (1, 2, 4) if not u & bit]),
}


def fit_seconds(data: Data, seed: int, *, times: int, of: str = "gadc", **settings: Any) -> float:
    """Time one fit of the model `of`, aggregation included, times the number of runs that the paper timed."""
    model = make_model(of, **settings)
    start = time.perf_counter()
    model.fit(data, seed=seed)
    return times * (time.perf_counter() - start)


def aggregation_seconds(data: Data, seed: int, **settings: Any) -> float:
    """Time one diffusion in seconds, including the normalisation of the graph and Φ."""
    start = time.perf_counter()
    diffuse(data.x, data.edge_index, check_convergence=False, **settings)
    return time.perf_counter() - start


MEASURES: dict[str, Callable[..., float]] = {
    "error-analysis": own_equation_error,
    "connectivity": connectivity,
    "fit-seconds": fit_seconds,
    "aggregation-seconds": aggregation_seconds,
}
