"""A node order in which the rows that a product gathers lie close together.

Clusters come from label propagation (Raghavan, Albert and Kumara, Phys. Rev. E 76, 2007): each node starts
with its neighbour of highest degree, then twice takes the label that most of its neighbours have. Nodes are
numbered by cluster, and by falling degree within. All of it is deterministic, and takes about as long as two
products with a hundred columns; a product is then faster by a quarter to a third (see docs/performance.md).
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor

from gadc.operators._numba import loops_order as loops
from gadc.operators._numba.csr import flat, ranges_of, run
from gadc.operators._pattern import SparsePattern

_VOTES = 2


def cluster_order(pattern: SparsePattern) -> Tensor:
    """The nodes in their new order, for a square pattern on the CPU."""
    row_ptr, cols = flat(pattern.row_ptr), flat(pattern.cols)
    parts = ranges_of(row_ptr, torch.get_num_threads())
    labels, votes = np.arange(pattern.num_rows, dtype=cols.dtype), np.empty(pattern.num_rows, cols.dtype)
    run([partial(loops.follow_hub, row_ptr, cols, labels, a, b) for a, b in parts])
    for _ in range(_VOTES):
        run([partial(loops.vote, row_ptr, cols, labels, votes, a, b) for a, b in parts])
        labels, votes = votes, labels
    return torch.from_numpy(np.lexsort((-np.diff(row_ptr), labels)))


def reorder(pattern: SparsePattern, values: Tensor, order: Tensor) -> tuple[SparsePattern, Tensor]:
    """The matrix with rows and columns in that order, for products with dense matrices only.

    Columns are not ascending within a row: sorting them costs more than it saves a product.
    """
    row_ptr, cols, entries, nodes = map(flat, (pattern.row_ptr, pattern.cols, values, order))
    rank = np.empty(pattern.num_cols, cols.dtype)
    rank[nodes] = np.arange(pattern.num_cols, dtype=cols.dtype)
    starts = np.zeros_like(row_ptr)
    np.cumsum(np.diff(row_ptr)[nodes], out=starts[1:])
    new = np.empty_like(cols), np.empty_like(entries)
    parts = ranges_of(starts, 8 * torch.get_num_threads())
    run([partial(loops.gather, row_ptr, cols, entries, nodes, rank, starts, *new, a, b) for a, b in parts])
    return SparsePattern(
        torch.from_numpy(starts), torch.from_numpy(new[0]), pattern.num_cols
    ), torch.from_numpy(new[1])
