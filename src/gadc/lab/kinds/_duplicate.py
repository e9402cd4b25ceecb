"""Nodes that are listed twice: the same features, and the same neighbours.

Up to 20,000 nodes each node is compared with its nearest in the features; on larger graphs with the next
ones in the order of random projections, which finds identical and almost identical rows. Without features,
nodes with the same neighbours (at least three) are reported.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from gadc._base.pairs import key_ends, undirected_keys
from gadc.lab._findings import Findings, empty_frame
from gadc.lab._kind import Kind
from gadc.lab._view import GraphView, Integers

_EXACT = 20_000  # nodes up to which all pairs are compared
_NEAREST = 3
_PROJECTIONS = 12
_NEAR = 0.05  # of the usual distance of two random nodes
_COMMON = 0.5  # share of common neighbours that confirms a duplicate
_CHANCE = 0.02  # share of nodes with an equal row from which equal rows are not remarkable
_TWINS = 3  # neighbours that two nodes without features must have in common


class Duplicate(Kind):
    """Find nodes that are almost the same.

    Examples:
        >>> import gadc, torch
        >>> from gadc.datasets import csbm
        >>> data = csbm(200, seed=0)
        >>> data.x[7] = data.x[100]
        >>> found = gadc.Lab(data).find_issues(kinds=["duplicate"]).issues("duplicate").filter("is_issue")
        >>> found["source"].to_list(), found["target"].to_list()
        ([7], [100])
    """

    name = "duplicate"
    title = "Nodes that are listed twice"
    items = "pair"

    def find(self, view: GraphView) -> Findings:
        """Judge pairs of near nodes."""
        view.tell("duplicate: nearest nodes")
        u, v, distance = _near_rows(view) if view.rows.shape[1] else _twins(view)
        if not len(u):
            return Findings(
                frame=empty_frame("source", "target"), summary="No duplicate node was found.", expected=0.0
            )
        common = _common_share(view, u, v)
        equal = np.unique(np.concatenate([u[distance == 0], v[distance == 0]]))
        usual = len(equal) > _CHANCE * view.num_nodes or not view.rows.shape[1]
        is_issue = distance <= _NEAR
        if usual:
            is_issue &= common >= _COMMON
        order = np.lexsort((-common, distance))
        frame = pl.DataFrame({"source": u, "target": v, "is_issue": is_issue}).with_columns(
            score=pl.Series(np.clip(distance, 0, 1)),
            probability=pl.lit(None, pl.Float64),
            reasons=pl.Series(_reasons(distance, common, has_rows=bool(view.rows.shape[1]))),
            distance=pl.Series(distance),
            common_neighbors=pl.Series(common),
        )[order]
        count = int(is_issue.sum())
        notes = []
        if usual and view.rows.shape[1]:
            share = f"{len(equal):,} of {view.num_nodes:,} nodes have the features of another one"
            notes.append(f"{share}, so half of their neighbours must be the same as well.")
        if view.num_nodes > _EXACT and view.rows.shape[1]:
            notes.append(
                "Only rows next to each other in 12 random projections were compared; pairs may be missed."
            )
        summary = (
            f"{count:,} pairs of nodes are almost the same." if count else "No duplicate node was found."
        )
        return Findings(frame=frame, summary=summary, notes=tuple(notes))


def _reasons(distance: NDArray[np.float64], common: NDArray[np.float64], *, has_rows: bool) -> list[str]:
    found = []
    for d, c in zip(distance, common, strict=True):
        same = "equal features" if d == 0 else f"features at {100 * d:.1f} % of the usual distance"
        shared = f"{100 * c:.0f} % of their neighbours in common"
        found.append(f"{same}; {shared}" if has_rows else shared)
    return found


def _near_rows(view: GraphView) -> tuple[Integers, Integers, NDArray[np.float64]]:
    """Return near pairs u < v and their distances, in units of the distance of two random nodes."""
    rows, n = view.rows, view.num_nodes
    if n < 2:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    if n <= _EXACT:
        count = min(_NEAREST + 1, n - 1)  # a node is not its own neighbour here
        near = NearestNeighbors(n_neighbors=count).fit(rows).kneighbors(return_distance=False)
        u, v = np.repeat(np.arange(n), near.shape[1]), near.ravel()
    else:
        u, v = _by_projections(rows, view.generator(salt=5))
    u, v = key_ends(np.unique(undirected_keys((u[u != v], v[u != v]), n)), n)
    usual = float(np.sqrt(2 * rows.var(0).sum())) or 1.0
    distance = np.empty(len(u))
    for start in range(0, len(u), 2**18):
        part = slice(start, start + 2**18)
        distance[part] = np.linalg.norm(rows[u[part]] - rows[v[part]], axis=1)
    distance = np.where(distance < 1e-5 * usual, 0.0, distance / usual)
    kept = (
        distance <= max(_NEAR, np.partition(distance, min(1000, len(u) - 1))[min(1000, len(u) - 1)])
        if len(u)
        else []
    )
    return u[kept].astype(np.int64), v[kept].astype(np.int64), distance[kept]


def _by_projections(rows: NDArray[np.float32], rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Pair each row with the next two in the order of each random projection."""
    directions = rng.standard_normal((rows.shape[1], _PROJECTIONS)).astype(np.float32)
    ends: list[tuple[Integers, Integers]] = []
    for values in (rows @ directions).T:
        order = np.argsort(values, kind="stable")
        ends += [(order[:-1], order[1:]), (order[:-2], order[2:])]
    return np.concatenate([one for one, _ in ends]), np.concatenate([other for _, other in ends])


def _twins(view: GraphView) -> tuple[Integers, Integers, NDArray[np.float64]]:
    """Return pairs of nodes with the same neighbours, at least three, by a sum of random numbers."""
    marks = view.generator(salt=6).random(view.num_nodes)
    sums = np.where(view.degree >= _TWINS, view.adjacency.astype(np.float64) @ marks, np.nan)
    order = np.argsort(sums, kind="stable")
    same = np.abs(np.diff(sums[order])) < 1e-9
    u, v = np.minimum(order[:-1], order[1:])[same], np.maximum(order[:-1], order[1:])[same]
    return u, v, np.zeros(len(u))


def _common_share(view: GraphView, u: Integers, v: Integers) -> NDArray[np.float64]:
    """Compute the share of common neighbours among all neighbours of both, apart from each other."""
    one, other = view.adjacency[u], view.adjacency[v]
    shared = np.asarray(sparse.csr_array(one.multiply(other)).sum(1)).ravel()
    linked = np.asarray(view.adjacency[u, v]).ravel()
    union = view.degree[u] + view.degree[v] - shared - 2 * linked
    found: NDArray[np.float64] = shared / np.maximum(union, 1)
    return found
