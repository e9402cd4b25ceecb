"""From a long edge list to its pattern by counting: sorting all edges at once takes more memory and time.

Edges are dropped into their rows, then each row is sorted by itself: 4 bytes an edge beside the list and the
result. The plain way is `gadc.diffusion._graph`, which sorts keys with torch and also carries weights over.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gadc.operators._numba import loops_build as loops
from gadc.operators._numba.csr import flat, ranges_of, run
from gadc.operators._pattern import SparsePattern

_MAX_SCANS = 4  # each thread reads the whole list and keeps what belongs to its rows


def pattern_of(edge_index: Tensor, num_nodes: int, *, directed: bool) -> SparsePattern:
    """The distinct edges with a full diagonal; both directions of each unless `directed`.

    Args:
        edge_index: Node numbers, shape (2, edges), unsorted, perhaps repeated; loops fall on the diagonal.
        num_nodes: Number of nodes.
        directed: Whether (i, j) stands for itself alone.
    """
    ends = flat(edge_index[0]), flat(edge_index[1])
    row_ptr, cols = _collect(*ends, num_nodes, both=False)
    symmetric = bool(loops.is_symmetric(row_ptr, cols))  # as most undirected graphs come
    if not (directed or symmetric):
        row_ptr, cols = _collect(*ends, num_nodes, both=True)
    return SparsePattern(
        torch.from_numpy(row_ptr), torch.from_numpy(cols), num_nodes, symmetric=symmetric or not directed
    )


def _collect(source: Any, target: Any, num_nodes: int, *, both: bool) -> tuple[Any, Any]:
    """Row pointers and columns of the distinct entries."""
    small = num_nodes + len(source) * (2 if both else 1) < 2**31
    index = np.int32 if small else np.int64
    scans = np.linspace(0, num_nodes, min(torch.get_num_threads(), _MAX_SCANS) + 1).astype(np.int64)
    bounds = list(pairwise(scans.tolist()))
    counts = np.ones(num_nodes, index)  # the diagonal
    run([partial(loops.count, source, target, both, counts, a, b) for a, b in bounds])
    starts = np.zeros(num_nodes + 1, index)
    np.cumsum(counts, out=starts[1:])
    loose = np.empty(starts[-1], index)
    run([partial(loops.fill, source, target, both, starts, loose, a, b) for a, b in bounds])
    parts = ranges_of(starts, 8 * torch.get_num_threads())
    run([partial(loops.sort_rows, starts, loose, counts, a, b) for a, b in parts])
    row_ptr = np.zeros(num_nodes + 1, index)
    np.cumsum(counts, out=row_ptr[1:])
    if row_ptr[-1] == starts[-1]:
        return row_ptr, loose
    cols = np.empty(row_ptr[-1], index)
    run([partial(loops.compact, starts, loose, row_ptr, cols, a, b) for a, b in parts])
    return row_ptr, cols
