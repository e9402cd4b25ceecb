"""Build the pattern of a long edge list by counting, which needs less memory and time than sorting all edges.

Edges are put into their rows, then each row is sorted on its own: 4 bytes per edge beside the list and the
result. `gadc.diffusion._graph` has the plain method, which sorts keys with torch and handles weights as well.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gadc.operators._numba import loops_build as loops
from gadc.operators._numba.csr import flat
from gadc.operators._numba.threads import ranges_of, run
from gadc.operators._pattern import SparsePattern

_MAX_SCANS = 4  # each thread reads the whole list, so more threads would mostly wait for memory


def pattern_of(edge_index: Tensor, num_nodes: int, *, directed: bool) -> SparsePattern:
    """Return the pattern of the distinct edges with a full diagonal.

    Args:
        edge_index: Node numbers, shape (2, edges), in any order; edges may be repeated, and loops fall on
            the diagonal.
        num_nodes: Number of nodes.
        directed: Whether only the listed direction of an edge is an entry; otherwise both directions are.
    """
    ends = flat(edge_index[0]), flat(edge_index[1])
    row_ptr, cols = _collect(*ends, num_nodes, both=False)
    symmetric = bool(loops.is_symmetric(row_ptr, cols))  # most undirected edge lists hold both directions
    if not (directed or symmetric):
        row_ptr, cols = _collect(*ends, num_nodes, both=True)
    return SparsePattern(
        torch.from_numpy(row_ptr), torch.from_numpy(cols), num_nodes, symmetric=symmetric or not directed
    )


def _collect(source: Any, target: Any, num_nodes: int, *, both: bool) -> tuple[Any, Any]:
    """Return row pointers and columns of the distinct entries."""
    small = num_nodes + len(source) * (2 if both else 1) < 2**31
    index, node = np.int32 if small else np.int64, np.int32 if num_nodes < 2**31 else np.int64
    scans = np.linspace(0, num_nodes, min(torch.get_num_threads(), _MAX_SCANS) + 1).astype(np.int64)
    bounds = list(pairwise(scans.tolist()))
    counts = np.ones(num_nodes, index)  # the diagonal
    run([partial(loops.count, source, target, both, counts, a, b) for a, b in bounds])
    starts = np.zeros(num_nodes + 1, index)
    np.cumsum(counts, out=starts[1:])
    loose = np.empty(starts[-1], node)
    run([partial(loops.fill, source, target, both, starts, loose, a, b) for a, b in bounds])
    parts = ranges_of(starts, 8 * torch.get_num_threads())
    run([partial(loops.sort_rows, starts, loose, counts, a, b) for a, b in parts])
    row_ptr = np.zeros(num_nodes + 1, index)
    np.cumsum(counts, out=row_ptr[1:])
    if row_ptr[-1] == starts[-1]:
        return row_ptr, loose
    cols = np.empty(row_ptr[-1], node)
    run([partial(loops.compact, starts, loose, row_ptr, cols, a, b) for a, b in parts])
    return row_ptr, cols
