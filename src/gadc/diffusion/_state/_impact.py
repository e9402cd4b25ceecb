"""What an edge would do, before it is accepted: how far it moves the rows of F, and whether it looks right.

The scores look for something that the two ends have in common; a high score is suspicious.

    cosine       1 - cos(X_u, X_v)
    denoised     1 - cos(F_u, F_v), without the edge
    neighbors    1 - the mean cosine of u with the other neighbors of v, and of v with those of u
    common       1 / (1 + number of common neighbors)
    suspicion    their mean, from 0 to 2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gadc.diffusion._state._arrays import Array
from gadc.diffusion._state._engine import Engine

Head = Callable[[Tensor], Tensor]


@dataclass(frozen=True, kw_only=True, eq=False)
class Impact:
    """What adding an edge would change; for an edge of the graph, what removing it would change.

    Attributes:
        removes: Whether the edge is in the graph, so that its removal was looked at.
        rows: Nodes whose features move, the furthest first.
        moved: How far each of them moves, ‖F'_i - F_i‖.
        error_bound: Bound on the errors of both F and F', as `DiffusionState.error_bound`.
        scores: Scores "cosine", "denoised", "neighbors" and "common" of the edge.
        suspicion: Mean of the scores; high for an edge that looks false.
        predictions: Nodes among `rows` whose predicted class would change; None without a head.
        was_full: Whether the edge changes so much that only a full run can tell; `rows` is empty then.

    Examples:
        >>> import torch, gadc
        >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
        >>> state = gadc.DiffusionState(x, torch.tensor([[0], [2]]), variant="plain", lam=1.0)
        >>> impact = state.impact(0, 1)
        >>> impact.removes, impact.scores["cosine"]
        (False, 1.0)
    """

    removes: bool
    rows: Tensor
    moved: Tensor
    error_bound: float
    scores: dict[str, float]
    suspicion: float
    predictions: Tensor | None = None
    was_full: bool = False


def score_pair(engine: Engine, features: Array, u: int, v: int) -> dict[str, float]:
    """Compute the scores of a pair of nodes, from their own rows and the rows of their neighbours."""
    near = [_neighbors(engine, one, other) for one, other in ((u, v), (v, u))]
    x = engine.x
    means = [
        float(_cosines(x, node, others).mean()) if len(others) else 0.0
        for node, others in ((v, near[0]), (u, near[1]))
    ]
    common = len(np.intersect1d(near[0], near[1]))
    denoised = float(_cosines(features, 0, np.array([1]))[0])
    return {
        "cosine": 1 - float(_cosines(x, u, np.array([v]))[0]),
        "denoised": 1 - denoised,
        "neighbors": 1 - sum(means) / 2,
        "common": 1 / (1 + common),
    }


def _neighbors(engine: Engine, node: int, without: int) -> Array:
    rows = engine.edges.rows
    found = rows.cols[rows.start[node] : rows.start[node] + rows.length[node]]
    return found[found != without]


def _cosines(x: Array, node: int, others: Array) -> Array:
    one, many = x[node].astype(np.float64), x[others].astype(np.float64)
    sizes = np.linalg.norm(one) * np.linalg.norm(many, axis=1)
    return np.where(sizes > 0, many @ one / np.where(sizes > 0, sizes, 1.0), 0.0)


def predicted(head: Head, features: Tensor) -> Tensor:
    """Return the predicted classes of rows of F."""
    with torch.no_grad():
        return head(features).argmax(1)
