"""The products on the CPU, compiled by Numba.

Each function prepares flat NumPy arrays and runs one of the loops over ranges of rows, in several threads.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gadc.operators._numba import loops, loops_narrow
from gadc.operators._numba.registers import row_of
from gadc.operators._numba.threads import over_rows, ranges_of, run
from gadc.operators._pattern import SparsePattern
from gadc.operators._step import NO_STEP, Step

_LINE = 64  # bytes of a cache line
_SPLITS = {8: (8,), 16: (16,), 32: (32,), 48: (32, 16), 64: (32, 32)}
_NUMBER_TYPES: dict[torch.dtype, type[np.float32] | type[np.float64]] = {
    torch.float32: np.float32,
    torch.float64: np.float64,
}


def spmm(pattern: SparsePattern, values: Tensor, dense: Tensor, step: Step = NO_STEP) -> Tensor:
    """Multiply sparse (pattern, values) with dense and take the step, all in one pass over the rows."""
    shape = (pattern.num_rows, dense.shape[1])
    out = empty(shape, dense.dtype) if step.out is None else step.out
    number = number_type(dense)
    none = np.empty(0, number)
    plus = [(weight, flat(summand)) for weight, summand in step.plus]
    (w1, first), (w2, second) = plus + [(0.0, none)] * (2 - len(plus))
    wt, sums = (0.0, none) if step.total is None else (step.total[0], step.total[1].view(-1).numpy())
    matrix = flat(pattern.row_ptr), flat(pattern.cols), flat(values)
    arguments = *matrix, flat(dense), dense.shape[1], number(step.scale)
    summands = first, number(w1), second, number(w2), out.view(-1).numpy(), sums, number(wt)
    slabs = _slabs(dense.shape[1])
    if not slabs:
        over_rows(pattern, dense.shape[1], partial(loops.spmm, *arguments, *summands))
    for low, width in slabs:
        slab = row_of(width, number), low
        over_rows(pattern, width, partial(loops_narrow.spmm, *arguments, *summands, *slab))
    return out


def _slabs(columns: int) -> list[tuple[int, int]]:
    """Split columns into slabs whose sums fit into registers, as pairs of first column and width.

    None for widths that this does not pay for.
    """
    if columns not in _SPLITS:
        return []
    widths = _SPLITS[columns]
    return [(sum(widths[:k]), width) for k, width in enumerate(widths)]


def sddmm(pattern: SparsePattern, left: Tensor, right: Tensor) -> Tensor:
    """Compute the inner products of rows of `left` and `right` at the entries of the pattern.

    Where the pattern is symmetric and both factors are the same, only the upper half is computed.
    """
    symmetric = pattern.symmetric and _same(left, right)
    out = empty((pattern.nnz,), left.dtype)
    row_ptr, cols, result = flat(pattern.row_ptr), flat(pattern.cols), out.numpy()
    factors = flat(left), flat(right), left.shape[1]
    over_rows(pattern, left.shape[1], partial(loops.sddmm, row_ptr, cols, *factors, result, symmetric))
    if symmetric:
        bounds = ranges_of(row_ptr, torch.get_num_threads())
        run([partial(loops.mirror, row_ptr, cols, result, a, b) for a, b in bounds])
    return out


def row_sums(pattern: SparsePattern, values: Tensor) -> Tensor:
    """Sum each row."""
    out = empty((pattern.num_rows,), values.dtype)
    arguments = flat(pattern.row_ptr), flat(values), out.numpy()
    over_rows(pattern, 1, partial(loops.row_sums, *arguments))
    return out


def rescale(pattern: SparsePattern, values: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """Compute left_i · values_ij · right_j for all entries."""
    out = empty((pattern.nnz,), values.dtype)
    matrix = flat(pattern.row_ptr), flat(pattern.cols), flat(values)
    arguments = *matrix, flat(left), flat(right), out.numpy()
    over_rows(pattern, 1, partial(loops.rescale, *arguments))
    return out


def empty(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Allocate a result by NumPy, which asks for huge pages: they make random gathers faster.

    It begins at a cache line, so that a gathered row of 16 numbers is one line, not parts of two.
    """
    number, size = _NUMBER_TYPES[dtype], math.prod(shape)
    room = np.empty(size + _LINE // dtype.itemsize, number)
    skipped = -room.ctypes.data % _LINE // dtype.itemsize
    return torch.from_numpy(room[skipped : skipped + size].reshape(shape))


def flat(tensor: Tensor) -> Any:
    """Return the tensor as a flat NumPy array in C order, without a copy if it is in that order already."""
    return tensor.detach().reshape(-1).contiguous().numpy()


def number_type(tensor: Tensor) -> type[np.float32] | type[np.float64]:
    """Return the NumPy type of the numbers that the tensor holds."""
    return _NUMBER_TYPES[tensor.dtype]


def _same(left: Tensor, right: Tensor) -> bool:
    """Return whether two tensors are the same numbers in memory."""
    return left is right or (
        left.data_ptr() == right.data_ptr() and left.shape == right.shape and left.stride() == right.stride()
    )
