"""The loops that Numba compiles: each runs over a range of rows, in one thread, without Python's lock.

They are plain functions of NumPy arrays, compiled on first use and cached on disk. Matrices are flattened and
their indices unsigned: a signed index may count from the end, and that test in the innermost loop would keep
it from being vectorised. Every row is summed in the order of its entries, so the result does not depend on
the number of threads.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import numba
import numpy as np

from gadc.operators._numba.prefetch import prefetch

Array = Any
_U = np.uint64
_AHEAD = 1 << 15  # bytes of rows that are fetched before they are used
_LINE = 64  # bytes of a cache line
_CACHE = 1 << 20  # bytes of a matrix that stays in the cache of a core anyway
_WIDTH = 1024  # columns taken at a time, so that a row of sums stays in the first-level cache


def _look_ahead(flat: Array, count: Any) -> Any:
    """Return how many entries ahead to fetch rows of a matrix; 0 if the matrix fits into the cache."""
    if flat.size * flat.itemsize <= _CACHE:
        return _U(0)
    return _U(max(4, min(64, _AHEAD // max(np.int64(count) * flat.itemsize, 1))))


def _fetch_row(flat: Array, start: Any, count: Any) -> None:
    """Fetch the cache lines of flat[start : start + count]."""
    line, c = _U(_LINE // flat.itemsize), _U(0)
    while c < count:
        prefetch(flat, np.intp(start + c))
        c += line
    prefetch(flat, np.intp(start + count - _U(1)))  # a row may begin within a line


def _add_row(row: Array, weight: Any, flat: Array, start: Any, count: Any) -> None:
    """Add weight · flat[start : start + count] to the row."""
    for c in range(count):
        row[c] += weight * flat[start + c]


def _part(function: Any) -> Any:
    """Compile a function that is inlined into the loops below."""
    return numba.njit(function, nogil=True, fastmath={"contract"}, inline="always")


_ahead, _fetch, _add = map(_part, (_look_ahead, _fetch_row, _add_row))


def _sum_row(
    row: Array,
    first: Any,
    end: Any,
    cols: Array,
    values: Array,
    flat: Array,
    columns: Any,
    low: Any,
    ahead: Any,
) -> None:
    """Set row = Σ values_p · (row cols_p of the matrix, from column `low` on) over entries first:end.

    Taking four entries at once saves three trips of the sum to memory.
    """
    count, last = _U(len(row)), _U(len(cols))
    for c in range(count):
        row[c] = 0
    p = first
    while p < end:
        four = p + _U(4) <= end
        if ahead > 0:
            for q in range(p + ahead, min(p + ahead + (_U(4) if four else _U(1)), last)):
                _fetch(flat, _U(cols[q]) * columns + low, count)
        h0, v0 = _U(cols[p]) * columns + low, values[p]
        if four:
            h1, v1 = _U(cols[p + _U(1)]) * columns + low, values[p + _U(1)]
            h2, v2 = _U(cols[p + _U(2)]) * columns + low, values[p + _U(2)]
            h3, v3 = _U(cols[p + _U(3)]) * columns + low, values[p + _U(3)]
            for c in range(count):
                part = (row[c] + v0 * flat[h0 + c]) + v1 * flat[h1 + c]
                row[c] = (part + v2 * flat[h2 + c]) + v3 * flat[h3 + c]
            p += _U(4)
        else:
            _add(row, v0, flat, h0, count)
            p += _U(1)


_sum = _part(_sum_row)


def _spmm(
    row_ptr: Array,
    cols: Array,
    values: Array,
    dense: Array,
    columns: int,
    scale: Any,
    first: Array,
    first_weight: Any,
    second: Array,
    second_weight: Any,
    out: Array,
    total: Array,
    total_weight: Any,
    start: int,
    stop: int,
) -> None:
    """Compute out = scale A dense + w₁ first + w₂ second and total += w out in one pass.

    `first`, `second` and `total` are skipped if they are empty. A row of `out` is written after everything
    that it depends on has been read, so `out` may be `first` or `second`.
    """
    stride = _U(columns)
    for begin in range(0, columns, _WIDTH):
        count, low = _U(min(_WIDTH, columns - begin)), _U(begin)
        row = np.empty(np.int64(count), dense.dtype)
        ahead = _ahead(dense, count)
        for i in range(start, stop):
            here = _U(i) * stride + low
            _sum(row, _U(row_ptr[i]), _U(row_ptr[i + 1]), cols, values, dense, stride, low, ahead)
            for c in range(count):
                row[c] *= scale
            if len(first):
                _add(row, first_weight, first, here, count)
            if len(second):
                _add(row, second_weight, second, here, count)
            for c in range(count):
                out[here + c] = row[c]
            if len(total):
                for c in range(count):
                    total[here + c] += total_weight * row[c]


def _sddmm(
    row_ptr: Array,
    cols: Array,
    left: Array,
    right: Array,
    columns: int,
    out: Array,
    upper: bool,
    start: int,
    stop: int,
) -> None:
    """Compute out_ij = ⟨left_i, right_j⟩; only for j >= i if `upper`."""
    count = _U(columns)
    ahead = np.int64(_ahead(right, count))
    for i in range(start, stop):
        begin, end, a = row_ptr[i], row_ptr[i + 1], _U(i) * count
        if upper:
            begin += np.searchsorted(cols[begin:end], i)
        for p in range(begin, end):
            if ahead > 0:
                _fetch(right, _U(cols[min(p + ahead, len(cols) - 1)]) * count, count)
            b = _U(cols[p]) * count
            product = out.dtype.type(0)
            for c in range(count):
                product += left[a + c] * right[b + c]
            out[p] = product


def _mirror(row_ptr: Array, cols: Array, values: Array, first: int, last: int) -> None:
    """Copy the upper half of a symmetric matrix to the lower half of rows first:last.

    Taken in the order of i, the entries (i, j) of the upper half come in the order in which row j of the
    lower half stores (j, i), so a cursor for each row finds their places without a search.
    """
    cursor = row_ptr[first:last].copy()
    for i in range(last):
        end = row_ptr[i + 1]
        p = row_ptr[i] + np.searchsorted(cols[row_ptr[i] : end], max(i + 1, first))
        while p < end and cols[p] < last:
            j = cols[p] - first
            values[cursor[j]] = values[p]
            cursor[j] += 1
            p += 1


def _row_sums(row_ptr: Array, values: Array, out: Array, start: int, stop: int) -> None:
    """Compute out_i = Σ_j values_ij."""
    for i in range(start, stop):
        total = out.dtype.type(0)
        for p in range(row_ptr[i], row_ptr[i + 1]):
            total += values[p]
        out[i] = total


def _rescale(
    row_ptr: Array, cols: Array, values: Array, left: Array, right: Array, out: Array, start: int, stop: int
) -> None:
    """Compute out_ij = left_i values_ij right_j."""
    for i in range(start, stop):
        for p in range(row_ptr[i], row_ptr[i + 1]):
            out[p] = values[p] * left[i] * right[cols[p]]


def compiled(function: Any, *extra: str) -> Any:
    """Compile a function at its first call for the types of its arguments, cached on disk."""
    # "contract" allows a product and a sum in one instruction; nothing is reordered.
    compile_for = partial(numba.njit, function, nogil=True, fastmath={"contract", *extra})
    try:
        return _tolerant(compile_for(cache=True))
    except RuntimeError:  # no folder can be written to: a read-only package and no home
        return compile_for()


def _tolerant(dispatcher: Any) -> Any:
    """Let a function be compiled again where its cache is damaged, and do without where none can be written.

    Numba would raise the error of the disk out of the first call of the function.
    """
    cache = dispatcher._cache
    load, save = cache.load_overload, cache.save_overload

    def load_overload(*args: Any) -> Any:
        try:
            return load(*args)
        except Exception:  # a damaged pickle raises almost anything
            with suppress(OSError):
                cache.flush()
            return None

    def save_overload(*args: Any) -> None:
        with suppress(OSError):
            save(*args)

    cache.load_overload, cache.save_overload = load_overload, save_overload
    return dispatcher


spmm, row_sums, rescale, mirror = map(compiled, (_spmm, _row_sums, _rescale, _mirror))
sddmm = compiled(_sddmm, "reassoc")  # here the sum itself must be reordered to be vectorised
