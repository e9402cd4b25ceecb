"""Random changes of a graph, and what a state should hold after them, in dense float64."""

from typing import Any

import numpy as np
import torch

from gadc import DiffusionState
from tests.helpers import dense

SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {"variant": "plain", "lam": 4.0},
    "plain-rw": {"variant": "plain", "lam": 9.0, "norm": "rw"},
    "plain-without-loops": {"variant": "plain", "lam": 2.0, "self_loops": 0.0},
    "I": {"variant": "I", "lam": 1.0, "eps": 0.02},
    "II": {"variant": "II", "lam": 4.0},
    "II-rw": {"variant": "II", "lam": 2.0, "norm": "rw"},
    "III": {"variant": "III", "lam": 4.0, "eps": 0.3},
    "III-rw": {"variant": "III", "lam": 2.0, "eps": 0.2, "norm": "rw"},
    "IV": {"variant": "IV", "lam": 0.05},
    "steps-plain": {"variant": "plain", "lam": 4.0, "num_steps": 5},
    "steps-none": {"variant": "plain", "lam": 4.0, "num_steps": 0},
    "steps-I": {"variant": "I", "lam": 4.0, "num_steps": 3},
    "steps-III": {"variant": "III", "lam": 4.0, "num_steps": 3},
    "steps-IV": {"variant": "IV", "lam": 32.0, "num_steps": 4, "self_loops": 1.0},
}


def random_graph(rng: np.random.Generator, n: int, d: int, dtype: torch.dtype) -> tuple[Any, Any, Any]:
    """Features with zero rows, edges with hubs and isolated nodes, and weights."""
    x = torch.from_numpy(rng.standard_normal((n, d))).to(dtype)
    x[rng.integers(n)] = 0
    x[0] += 0.5  # never all zero
    ends = torch.from_numpy(rng.integers(0, n, (2, 2 * n)))
    ends[0, : n // 2] = 0  # a hub
    return x, ends, torch.from_numpy(rng.uniform(0.5, 2.0, 2 * n))


def random_changes(rng: np.random.Generator, state: DiffusionState) -> dict[str, Any]:
    """A batch of changes that fits a state."""
    n, d = state.x.shape
    edges = state.edges[0]
    edges = edges[:, edges[0] < edges[1]]
    changes: dict[str, Any] = {}
    order = torch.from_numpy(rng.permutation(edges.shape[1]))
    if rng.random() < 0.5:
        changes["add"] = torch.from_numpy(rng.integers(0, n, (2, rng.integers(1, 4))))
    if rng.random() < 0.3 and len(order) > 2:
        new = [pair for pair in rng.integers(0, n, (3, 2)).tolist() if pair[0] != pair[1]]
        new = [pair for pair in new if not bool(state.has_edges(torch.tensor([pair]).T)[0])][:1]
        if new:
            changes["add"] = (torch.tensor(new).T, torch.from_numpy(rng.uniform(0.5, 2.0, 1)))
    added = changes.get("add")
    listed = (
        torch.empty(2, 0, dtype=torch.int64)
        if added is None
        else added[0]
        if isinstance(added, tuple)
        else added
    )
    taken = {frozenset(pair) for pair in listed.T.tolist()}
    free = [k for k in order.tolist() if frozenset(edges[:, k].tolist()) not in taken]
    if rng.random() < 0.5 and len(free) > 3:
        changes["remove"] = edges[:, [free.pop(), free.pop()]]
    if rng.random() < 0.4 and free:
        changes["reweight"] = (edges[:, [free.pop()]].flip(0), torch.from_numpy(rng.uniform(0.1, 3.0, 1)))
    if rng.random() < 0.4:
        changes["x"] = {int(rng.integers(n)): torch.from_numpy(rng.standard_normal(d))}
    if rng.random() < 0.2:
        changes["new_nodes"] = torch.from_numpy(rng.standard_normal((1, d)))
        if "add" not in changes:
            changes["add"] = torch.tensor([[n], [int(rng.integers(n))]])
    return changes


def exact_features(state: DiffusionState) -> torch.Tensor:
    """F of a run from scratch, in dense float64."""
    settings = state.settings
    edges, weight = state.edges
    X, lam = state.x.double(), settings["lam"]
    A = dense.adjacency(edges, weight.double(), len(X))
    variant, loops = settings["variant"], settings["self_loops"]
    if variant == "IV":
        T = dense.transition(X, A, "IV") + (loops or 0.0) * torch.eye(len(X), dtype=X.dtype)
    else:
        T = dense.transition(X, A, variant, eps=settings["eps"], norm=settings["norm"])
        if loops is not None:
            T = T - dense.normalized(A, norm=settings["norm"])
            T = T + dense.normalized(A, norm=settings["norm"], self_loops=loops)
    if settings["num_steps"] is not None:
        return dense.diffusion_matrix(T, lam, settings["num_steps"]) @ X
    return torch.linalg.solve(
        torch.eye(len(X), dtype=X.dtype) + lam * (torch.eye(len(X), dtype=X.dtype) - T), X
    )


def excess(state: DiffusionState) -> float:
    """The largest error of a row, divided by its bound; at most 1 if the certificate holds."""
    errors = (state.features.double() - exact_features(state)).norm(dim=1)
    return float((errors / (state.row_bounds() + 1e-13)).max())
