"""Figures of the paper that are no accuracies: the error analysis, the connectivity factor, the cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.validation import check_choice
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
    """‖F - p(T(F)) X‖_F: how far a solution is from its own equation (Eq. 14).

    Args:
        data: Raw features and edges.
        seed: Of the random solution.
        solution: "gadc" for the closed form, "random" for entries from N(1, 1).
        lam: λ.
        num_steps: K.
        eps: ε.
        relative: Divide by ‖F‖_F and give percent.
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
    """τ of a graph's diffusion with norm="rw": of the data, or of a small graph by name."""
    if graph is None:
        x, edge_index = normalize_rows(data.x, normalize), data.edge_index
    else:
        edge_index, n = small_graph(graph)
        x = torch.ones(n, 1)
    operator = transition(x.double(), edge_index, variant=variant, eps=eps, norm="rw")
    return connectivity_factor(operator, lam=lam, num_steps=num_steps, seed=seed).value


def small_graph(name: str) -> tuple[Tensor, int]:
    """The paper's illustrations: isolated nodes, star and complete graph on four nodes, a larger even one.

    The last one is a picture that the paper's text does not describe; ours is the cube with its eight nodes.
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
    """Seconds of one fit of the model `of`, aggregation included, times the runs that the paper timed."""
    model = make_model(of, **settings)
    start = time.perf_counter()
    model.fit(data, seed=seed)
    return times * (time.perf_counter() - start)


def aggregation_seconds(data: Data, seed: int, **settings: Any) -> float:
    """Seconds of one diffusion, the graph and Φ included."""
    start = time.perf_counter()
    diffuse(data.x, data.edge_index, check_convergence=False, **settings)
    return time.perf_counter() - start


MEASURES: dict[str, Callable[..., float]] = {
    "error-analysis": own_equation_error,
    "connectivity": connectivity,
    "fit-seconds": fit_seconds,
    "aggregation-seconds": aggregation_seconds,
}
