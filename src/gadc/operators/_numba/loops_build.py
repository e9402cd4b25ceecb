"""The loops behind `gadc.operators._build`, compiled by Numba; each writes only to rows first:last."""

from __future__ import annotations

from typing import Any

import numpy as np

from gadc.operators._numba.loops import compiled

Array = Any


def _count(source: Array, target: Array, both: bool, counts: Array, first: int, last: int) -> None:
    """Add the number of proper edges of each row to `counts`."""
    for e in range(len(source)):
        s, t = source[e], target[e]
        if s == t:
            continue
        if first <= s < last:
            counts[s] += 1
        if both and first <= t < last:
            counts[t] += 1


def _fill(
    source: Array, target: Array, both: bool, starts: Array, cols: Array, first: int, last: int
) -> None:
    """Put the diagonal and the proper edges into their rows, in the order in which they are listed."""
    cursor = starts[first:last].copy()
    for i in range(first, last):
        cols[cursor[i - first]] = i
        cursor[i - first] += 1
    for e in range(len(source)):
        s, t = source[e], target[e]
        if s == t:
            continue
        if first <= s < last:
            cols[cursor[s - first]] = t
            cursor[s - first] += 1
        if both and first <= t < last:
            cols[cursor[t - first]] = s
            cursor[t - first] += 1


def _sort_rows(starts: Array, cols: Array, counts: Array, first: int, last: int) -> None:
    """Sort each row, move its distinct columns to its front and count them."""
    for i in range(first, last):
        row = cols[starts[i] : starts[i + 1]]
        # The diagonal came first. A row that was listed in order is in order again once it is in place.
        place = 1
        while place < len(row) and row[place] < i:
            row[place - 1] = row[place]
            place += 1
        row[place - 1] = i
        if np.any(row[1:] < row[:-1]):
            row.sort()
        kept = 1
        for p in range(1, len(row)):
            if row[p] != row[p - 1]:
                row[kept] = row[p]
                kept += 1
        counts[i] = kept


def _compact(starts: Array, loose: Array, row_ptr: Array, cols: Array, first: int, last: int) -> None:
    """Copy the distinct columns of each row to their place in the result."""
    for i in range(first, last):
        cols[row_ptr[i] : row_ptr[i + 1]] = loose[starts[i] : starts[i] + row_ptr[i + 1] - row_ptr[i]]


def _is_symmetric(row_ptr: Array, cols: Array) -> bool:
    """Return whether (j, i) is an entry for every entry (i, j); rows must be sorted, the diagonal full.

    A cursor for each row finds the mirror images without a search, as in `loops.mirror`.
    """
    cursor = row_ptr[:-1].copy()
    for i in range(len(cursor)):
        p = cursor[i]
        if cols[p] != i:  # an entry of the lower half that no row of the upper half has matched
            return False
        for q in range(p + 1, row_ptr[i + 1]):
            j = cols[q]
            if cols[cursor[j]] != i:
                return False
            cursor[j] += 1
    return True


count, fill, sort_rows, compact, is_symmetric = map(
    compiled, (_count, _fill, _sort_rows, _compact, _is_symmetric)
)
