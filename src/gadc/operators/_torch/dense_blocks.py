"""The products for patterns that are hardly sparse: blocks of rows as dense matrices, one GEMM each.

Attacks relax over all pairs of nodes. There an index costs more than the number beside it: a dense product is
many times faster, and a block of rows at a time keeps its memory bounded. Any device, plain torch.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from gadc.operators._pattern import SparsePattern

# A complete pattern needs no index at all. Else the scatter has to pay: measured with 2,485 nodes, 1,433
# columns and every fifth entry stored it gains 2.7 times, with 128 columns it loses.
_DENSITY, _COLUMNS = 0.1, 512
_BLOCK_ENTRIES = 1 << 24  # of a dense block: 64 MB in float32


def pays(pattern: SparsePattern, columns: int) -> bool:
    """Whether a product over this pattern is faster through dense blocks."""
    cells = pattern.num_rows * pattern.num_cols
    return pattern.nnz == cells > 0 or (columns >= _COLUMNS and pattern.nnz > _DENSITY * cells)


def spmm(pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
    """Sparse (pattern, values) times dense."""
    out = dense.new_empty((pattern.num_rows, dense.shape[1]))
    for rows, entries in _blocks(pattern):
        torch.mm(_scatter(pattern, values, rows, entries), dense, out=out[rows])
    return out


def spmm_transposed(pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
    """The transpose of sparse (pattern, values) times dense."""
    out = dense.new_zeros((pattern.num_cols, dense.shape[1]))
    for rows, entries in _blocks(pattern):
        out.addmm_(_scatter(pattern, values, rows, entries).T, dense[rows])
    return out


def sddmm(pattern: SparsePattern, left: Tensor, right: Tensor) -> Tensor:
    """Inner products of rows of `left` and `right` at the entries of the pattern."""
    out = left.new_empty(pattern.nnz)
    for rows, entries in _blocks(pattern):
        block = (left[rows] @ right.T).reshape(-1)
        if len(block) == entries.stop - entries.start:
            out[entries] = block
        else:
            torch.index_select(block, 0, _places(pattern, rows, entries), out=out[entries])
    return out


def _blocks(pattern: SparsePattern) -> Iterator[tuple[slice, slice]]:
    """Slices of rows, and of the entries that they hold."""
    height = max(_BLOCK_ENTRIES // max(pattern.num_cols, 1), 1)
    for start in range(0, pattern.num_rows, height):
        stop = min(start + height, pattern.num_rows)
        begin, end = pattern.row_ptr[start], pattern.row_ptr[stop]
        yield slice(start, stop), slice(int(begin), int(end))


def _scatter(pattern: SparsePattern, values: Tensor, rows: slice, entries: slice) -> Tensor:
    """These rows as a dense matrix."""
    shape = (rows.stop - rows.start, pattern.num_cols)
    if entries.stop - entries.start == shape[0] * shape[1]:
        return values[entries].reshape(shape)
    block = values.new_zeros(shape[0] * shape[1])
    block[_places(pattern, rows, entries)] = values[entries]
    return block.reshape(shape)


def _places(pattern: SparsePattern, rows: slice, entries: slice) -> Tensor:
    starts: Tensor = (pattern.rows[entries].long() - rows.start) * pattern.num_cols
    return starts + pattern.cols[entries]
