"""The edges of an undirected graph that changes: an edge is set or removed without copying the others.

Every row lies in one pool and has some room to grow. A row without room moves to the end of the pool, and
the pool is packed again when it is full: after at least an eighth of its size, so that a change costs
O(degree) on average.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gadc._base.deferred import deferred
from gadc.diffusion._state._arrays import Array, Rows
from gadc.operators import LinearOperator

with deferred():
    from gadc.diffusion._state import _row_loops as loops

_SPARE = 8  # one part in so many of a pool is free after it is packed


class EdgeRows:
    """Rows of A in one pool.

    Args:
        rows: The rows; arrays of one number per node may be longer than the number of nodes.
        end: First free place of the pool.
    """

    def __init__(self, rows: Rows, end: int) -> None:
        self.rows = rows
        self._end = np.array([end], dtype=np.int64)

    @classmethod
    def of(cls, graph: LinearOperator, capacity: int) -> EdgeRows:
        """Copy the edges of A whose weight is not 0; the diagonal is left out."""
        pattern = graph.pattern
        cols, values = pattern.cols.numpy(), graph.values.numpy()
        numbers = np.repeat(np.arange(pattern.num_rows), np.diff(pattern.row_ptr.numpy()))
        kept = (numbers != cols) & (values != 0)
        counts = np.bincount(numbers[kept], minlength=pattern.num_rows)
        return cls.packed(counts, cols[kept], values[kept], capacity)

    @classmethod
    def packed(cls, counts: Array, cols: Array, weights: Array, capacity: int) -> EdgeRows:
        """Make a pool of compressed rows."""
        n, length = len(counts), np.zeros(capacity, dtype=np.int64)
        length[:n] = counts
        start = np.zeros(capacity, dtype=np.int64)
        np.cumsum(counts[:-1], out=start[1:n])
        rows = Rows(start, length, length.copy(), *_pool(len(cols), weights.dtype))
        rows.cols[: len(cols)], rows.weights[: len(cols)] = cols, weights
        return cls(rows, len(cols))

    def num_entries(self, num_nodes: int) -> int:
        """Count the entries; every edge has two."""
        return int(self.rows.length[:num_nodes].sum())

    def find(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Array:
        """Return the weights of edges, 0 for an edge that is not there."""
        place = np.empty(len(first), dtype=np.int64)
        loops.find_entries(first, second, self.rows, place)
        return np.where(place >= 0, self.rows.weights[place], 0)

    def set(self, first: NDArray[np.int64], second: NDArray[np.int64], weights: Array) -> None:
        """Set the weights of edges in both directions; a weight of 0 removes an edge."""
        both, other = np.concatenate([first, second]), np.concatenate([second, first])
        twice = np.concatenate([weights, weights]).astype(self.rows.weights.dtype)
        done = 0
        while (done := loops.edit(both, other, twice, done, self.rows, self._end)) < len(both):
            self._pack(2 * int(self.rows.length[both[done]]) + 4)

    def replace_rows(self, nodes: Array, length: Array, cols: Array, weights: Array) -> None:
        """Replace whole rows; the other direction of an edge must be among them, or be as it was."""
        ends = np.cumsum(length)
        for node, end, count in zip(nodes.tolist(), ends.tolist(), length.tolist(), strict=True):
            while (place := int(self._end[0])) + count > len(self.rows.cols):
                self._pack(count)
            self.rows.cols[place : place + count] = cols[end - count : end]
            self.rows.weights[place : place + count] = weights[end - count : end]
            self.rows.start[node], self.rows.length[node], self.rows.room[node] = place, count, count
            self._end[0] += count

    def grow(self, capacity: int) -> None:
        """Make room for more nodes."""
        start, length, room = (enlarged(part, capacity) for part in self.rows[:3])
        self.rows = Rows(start, length, room, self.rows.cols, self.rows.weights)

    def compressed(self, num_nodes: int) -> tuple[Array, Array, Array]:
        """Return the number of entries of each row, and all columns and weights, row by row."""
        length = self.rows.length[:num_nodes]
        target = EdgeRows.packed(
            length, np.empty(0, np.int32), np.empty(0, self.rows.weights.dtype), num_nodes
        ).rows
        size = int(length.sum())
        cols, weights = np.empty(size, np.int32), np.empty(size, self.rows.weights.dtype)
        loops.pack_rows(self.rows, target._replace(cols=cols, weights=weights), num_nodes)
        return length.copy(), cols, weights

    def edge_index(self, num_nodes: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return both directions of all edges, shape (2, entries), and their weights."""
        length, cols, weights = self.compressed(num_nodes)
        source = np.repeat(np.arange(num_nodes), length)
        edges = np.stack([source, cols.astype(np.int64)])
        return torch.from_numpy(edges), torch.from_numpy(weights)

    def _pack(self, needed: int) -> None:
        """Pack the rows into a new pool with room at its end."""
        old, size = self.rows, int(self.rows.length.sum())
        start = np.zeros_like(old.start)
        np.cumsum(old.length[:-1], out=start[1:])
        pool = _pool(size + needed, old.weights.dtype)
        self.rows = Rows(start, old.length, old.length.copy(), *pool)
        loops.pack_rows(old, self.rows, len(start))
        self._end[0] = size


def _pool(size: int, dtype: Any) -> tuple[Array, Array]:
    room = size + size // _SPARE + 1024
    return np.empty(room, dtype=np.int32), np.empty(room, dtype=dtype)


def enlarged(array: Array, capacity: int) -> Array:
    """Copy an array into a longer one; the new part is zero."""
    larger = np.zeros((capacity, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
