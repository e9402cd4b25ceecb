"""Edges as rows of a table become a clean edge list: sorted, without self-loops and duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gadc._base.deferred import deferred

if TYPE_CHECKING:
    from torch import Tensor

with deferred():
    import torch

    from gadc._base import pairs


Integers: TypeAlias = NDArray[np.integer[Any]]
Keys: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Edges:
    """A clean edge list, and counts of the rows that were left out or merged.

    Args:
        edge_index: (2, m) int64, sorted.
        edge_weight: (m,) float32, or None without weights.
        count: Number of edges; an undirected edge counts once.
        self_loops: Number of rows that were self-loops.
        duplicates: Number of rows that were merged into the edge of another row.
        both_ways: Number of undirected edges that the rows list in both directions.
        isolated: Number of nodes without an edge.
        directed: Whether the edges were read as directed.
    """

    edge_index: Tensor
    edge_weight: Tensor | None
    count: int
    self_loops: int
    duplicates: int
    both_ways: int
    isolated: int
    directed: bool

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.count + self.duplicates + self.self_loops


def clean_edges(
    source: Integers, target: Integers, weight: Floats | None, num_nodes: int, *, directed: bool
) -> Edges:
    """Leave out self-loops, merge duplicates, and list an undirected edge in both directions.

    Repeated rows count once without weights; with weights, their weights are added. If an undirected edge is
    listed in both directions, its weight is the mean of the two, as everywhere in this library: a table of a
    symmetric matrix and a table of its upper half give the same graph.

    Args:
        source: Position of one end of each edge.
        target: Position of the other end.
        weight: Weight of each edge, or None.
        num_nodes: Number of nodes.
        directed: Keep the edges as listed instead of in both directions.
    """
    rows = len(source)
    proper = source != target
    if not proper.all():
        source, target = source[proper], target[proper]
        weight = None if weight is None else weight[proper]
    loops = rows - len(source)
    if directed:
        keys, weight = _merge(*_sorted(pairs.edge_keys((source, target), num_nodes), weight))
        listed, (edge_index, edge_weight) = len(keys), _as_listed(keys, weight, num_nodes)
    else:
        keys = pairs.undirected_keys((source, target), num_nodes)
        keys *= 2
        keys += source > target  # the last bit tells the two directions of an edge apart
        keys, weight = _merge(*_sorted(keys, weight))
        listed = len(keys)
        keys >>= 1
        keys, weight = _merge(keys, weight, mean=True)
        edge_index, edge_weight = _both_ways(keys, weight, num_nodes)
    touched = np.zeros(num_nodes, dtype=bool)
    for ends in edge_index.numpy():
        touched[ends] = True
    return Edges(
        edge_index=edge_index,
        edge_weight=edge_weight,
        count=len(keys),
        self_loops=loops,
        duplicates=rows - loops - len(keys),
        both_ways=listed - len(keys),
        isolated=int(num_nodes - touched.sum()),
        directed=directed,
    )


def _sorted(keys: Keys, weight: Floats | None) -> tuple[Keys, Floats | None]:
    """Sort edges by their keys; without weights, in place."""
    if weight is None:
        keys.sort()
        return keys, None
    order = np.argsort(keys, kind="stable")
    return keys[order], weight[order]


def _merge(keys: Keys, weight: Floats | None, *, mean: bool = False) -> tuple[Keys, Floats | None]:
    """Keep each of the sorted keys once, with the sum or mean of its weights."""
    first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    if first.all():
        return keys, weight
    if weight is not None:
        starts = np.flatnonzero(first)
        weight = np.add.reduceat(weight, starts)
        if mean:
            weight /= np.diff(starts, append=len(keys))
    return keys[first], weight


def _as_listed(keys: Keys, weight: Floats | None, num_nodes: int) -> tuple[Tensor, Tensor | None]:
    edge_index = torch.from_numpy(pairs.key_ends(keys, num_nodes))
    return edge_index, None if weight is None else torch.from_numpy(weight.astype(np.float32))


def _both_ways(keys: Keys, weight: Floats | None, num_nodes: int) -> tuple[Tensor, Tensor | None]:
    """List both directions of sorted pairs i < j, sorted, in linear time.

    Row i of the symmetric matrix is row i of its strictly lower part followed by row i of its strictly upper
    part. `keys` give the upper part; the lower part is its transpose, which SciPy finds by counting.
    """
    upper = sparse.csr_array(
        (
            np.ones(len(keys), dtype=bool) if weight is None else weight.astype(np.float32),
            (keys % num_nodes).astype(np.int32),
            np.searchsorted(keys, np.arange(num_nodes + 1, dtype=np.int64) * num_nodes),
        ),
        shape=(num_nodes, num_nodes),
    )
    lower = upper.tocsc()  # its columns are the rows of the transpose
    sizes = np.stack([np.diff(lower.indptr), np.diff(upper.indptr)], axis=1)
    is_lower = np.repeat(np.tile([True, False], num_nodes), sizes.ravel())
    edge_index = torch.empty((2, len(is_lower)), dtype=torch.int64)
    edge_index[0].numpy()[:] = np.repeat(np.arange(num_nodes, dtype=np.int32), sizes.sum(axis=1))
    columns = edge_index[1].numpy()
    columns[is_lower], columns[~is_lower] = lower.indices, upper.indices
    if weight is None:
        return edge_index, None
    both = np.empty(len(is_lower), dtype=np.float32)
    both[is_lower], both[~is_lower] = lower.data, upper.data
    return edge_index, torch.from_numpy(both)
