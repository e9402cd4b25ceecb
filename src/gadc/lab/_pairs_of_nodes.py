"""What speaks for a link between two nodes: alike features, neighbourhoods and classes, common neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gadc.lab._prepared import unit_rows
from gadc.lab._view import Integers

_PART = 2**18  # pairs at a time
_SLAB = 4096  # rows of A² at a time
_HUB = 2000  # neighbours from which a node does not count as a common one: it is one of almost everybody

Array = NDArray[np.float64]
Matrix = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Likeness:
    """A graph in which pairs of nodes are compared.

    Args:
        rows: Comparable features, shape (n, d); d may be 0.
        graph: Adjacency matrix, perhaps with weights.
    """

    rows: Matrix
    graph: sparse.csr_array

    def of(self, pairs: Integers, weight: Array | None = None) -> list[Array]:
        """Compare the ends of pairs; with features five columns, without them one, all high for like nodes.

        Args:
            pairs: Shape (2, m).
            weight: Weight of each pair as an edge of the graph, so that an edge does not speak for itself; by
                default the pairs are not edges.
        """
        u, v = pairs
        found = []
        if self.rows.shape[1]:
            less = np.zeros(len(u)) if weight is None else weight
            q = unit_rows(self.rows)
            sums, own, degree = self.graph @ q, np.einsum("ij,ij->i", q, q), self.degree
            of_u = (dots(q, sums, u, v) - less * own[u]) / np.maximum(degree[v] - less, 1)
            of_v = (dots(sums, q, u, v) - less * own[v]) / np.maximum(degree[u] - less, 1)
            denoised = unit_rows(self.denoised())
            found = [dots(q, q, u, v), (of_u + of_v) / 2, _hoods(q, sums, u, v, less)]
            found.append(dots(denoised, denoised, u, v))
        return [*found, common_neighbors(self.graph, u, v)]

    @cached_property
    def degree(self) -> Matrix:
        """Sum of the weights at each node."""
        found: Matrix = np.asarray(self.graph.sum(1)).ravel().astype(np.float32)
        return found

    def denoised(self) -> Matrix:
        """Diffuse the features: Σ_k (2/3 T)^k X with four steps, as in `gadc.diffuse` up to a factor."""
        scale = 1 / np.sqrt(self.degree + 1.0)
        found = self.rows
        for _ in range(4):
            scaled = scale[:, None] * found
            found = self.rows + 2 / 3 * (scale[:, None] * (self.graph @ scaled + scaled))
        return found

    def smoothed(self, steps: int) -> Matrix:
        """Average the features over the graph with self-loops, normalised on both sides."""
        scale = 1 / np.sqrt(self.degree + 1.0)
        smooth = self.rows
        for _ in range(steps):
            scaled = (scale[:, None] * smooth).astype(np.float32, copy=False)
            smooth = (scale[:, None] * (self.graph @ scaled + scaled)).astype(np.float32, copy=False)
        return smooth


def dots(a: NDArray[np.floating], b: NDArray[np.floating], u: Integers, v: Integers) -> Array:
    """Compute the product of row u of a with row v of b for each pair, a part at a time."""
    found = np.empty(len(u))
    for start in range(0, len(u), _PART):
        part = slice(start, start + _PART)
        found[part] = np.einsum("ij,ij->i", a[u[part]], b[v[part]])
    return found


def _hoods(q: Matrix, sums: Matrix, u: Integers, v: Integers, less: Array) -> Array:
    """Compute the cosine of both neighbourhoods, each with its own node and without the other end."""
    found = np.empty(len(u))
    for start in range(0, len(u), _PART):
        a, b = u[start : start + _PART], v[start : start + _PART]
        own = less[start : start + _PART, None].astype(np.float32)
        one, other = sums[a] + q[a] - own * q[b], sums[b] + q[b] - own * q[a]
        found[start : start + _PART] = np.einsum("ij,ij->i", unit_rows(one), unit_rows(other))
    return found


def common_neighbors(graph: sparse.csr_array, u: Integers, v: Integers) -> Array:
    """Sum 1 / log(degree) over the common neighbours of each pair (Adamic and Adar)."""
    n, degree = graph.shape[0], np.diff(graph.indptr)  # weights change the sums, not the degrees
    weight = 1 / np.log(np.maximum(degree, 2)).astype(np.float32)
    weight[degree > _HUB] = 0
    weighted = sparse.csr_array(graph @ sparse.diags_array(weight))
    weighted.eliminate_zeros()
    order = np.argsort(u, kind="stable")
    bounds = np.searchsorted(u[order], np.arange(0, n + _SLAB, _SLAB))
    sums = np.zeros(len(u))
    for number, start in enumerate(range(0, n, _SLAB)):
        chosen = order[bounds[number] : bounds[number + 1]]
        if len(chosen):
            paths = sparse.csr_array(weighted[start : start + _SLAB] @ graph)
            sums[chosen] = np.asarray(paths[u[chosen] - start, v[chosen]]).ravel()
    return sums
