"""The products for patterns that are hardly sparse: blocks of rows as dense matrices, one GEMM per block.

Attacks that relax over all pairs of nodes have such patterns. Following the index of an entry costs more than
multiplying the entry, so a dense product is many times faster; taking a block of rows at a time bounds its
memory. Plain torch, on any device.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from gadc.operators._pattern import SparsePattern

# A complete pattern needs no index at all. Other patterns are scattered into the block first, which pays only
# for many columns.
_DENSITY, _COLUMNS = 0.1, 512
_BLOCK_ENTRIES = 1 << 24  # of a dense block: 64 MB in float32


def pays(pattern: SparsePattern, columns: int) -> bool:
    """Return whether a product over this pattern is faster with dense blocks."""
    cells = pattern.num_rows * pattern.num_cols
    return pattern.nnz == cells > 0 or (columns >= _COLUMNS and pattern.nnz > _DENSITY * cells)


def spmm(pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
    """Multiply sparse (pattern, values) with dense."""
    out = dense.new_empty((pattern.num_rows, dense.shape[1]))
    for rows, entries in _blocks(pattern):
        torch.mm(_scatter(pattern, values, rows, entries), dense, out=out[rows])
    return out


def spmm_transposed(pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
    """Multiply the transpose of sparse (pattern, values) with dense."""
    out = dense.new_zeros((pattern.num_cols, dense.shape[1]))
    for rows, entries in _blocks(pattern):
        out.addmm_(_scatter(pattern, values, rows, entries).T, dense[rows])
    return out


def sddmm(pattern: SparsePattern, left: Tensor, right: Tensor) -> Tensor:
    """Compute the inner products of rows of `left` and `right` at the entries of the pattern."""
    out = left.new_empty(pattern.nnz)
    for rows, entries in _blocks(pattern):
        block = (left[rows] @ right.T).reshape(-1)
        if len(block) == entries.stop - entries.start:
            out[entries] = block
        else:
            torch.index_select(block, 0, _places(pattern, rows, entries), out=out[entries])
    return out


def _blocks(pattern: SparsePattern) -> Iterator[tuple[slice, slice]]:
    """Yield slices of rows, each with the slice of its entries."""
    height = max(_BLOCK_ENTRIES // max(pattern.num_cols, 1), 1)
    for start in range(0, pattern.num_rows, height):
        stop = min(start + height, pattern.num_rows)
        begin, end = pattern.row_ptr[start], pattern.row_ptr[stop]
        yield slice(start, stop), slice(int(begin), int(end))


def _scatter(pattern: SparsePattern, values: Tensor, rows: slice, entries: slice) -> Tensor:
    """Return some rows as a dense matrix."""
    shape = (rows.stop - rows.start, pattern.num_cols)
    if entries.stop - entries.start == shape[0] * shape[1]:
        return values[entries].reshape(shape)
    block = values.new_zeros(shape[0] * shape[1])
    block[_places(pattern, rows, entries)] = values[entries]
    return block.reshape(shape)


def _places(pattern: SparsePattern, rows: slice, entries: slice) -> Tensor:
    """Return the places of the entries in the flattened block of these rows."""
    starts: Tensor = (pattern.rows[entries].long() - rows.start) * pattern.num_cols
    return starts + pattern.cols[entries]
