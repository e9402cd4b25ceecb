"""The loops behind `_ordering`, compiled by Numba; each writes to the rows start:stop alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from gadc.operators._numba.loops import compiled

Array = Any


def _follow_hub(row_ptr: Array, cols: Array, labels: Array, start: int, stop: int) -> None:
    """Each node takes the number of its neighbour of highest degree, the first of equals, itself included."""
    for i in range(start, stop):
        best, most = i, row_ptr[i + 1] - row_ptr[i]
        for p in range(row_ptr[i], row_ptr[i + 1]):
            degree = row_ptr[cols[p] + 1] - row_ptr[cols[p]]
            if degree > most or (degree == most and cols[p] < best):
                best, most = cols[p], degree
        labels[i] = best


def _vote(row_ptr: Array, cols: Array, labels: Array, out: Array, start: int, stop: int) -> None:
    """Each node takes the label that most neighbours have; its own, if that is one of them."""
    counts = np.zeros(len(labels), cols.dtype)
    for i in range(start, stop):
        for p in range(row_ptr[i], row_ptr[i + 1]):
            counts[labels[cols[p]]] += 1
        best, most = labels[i], counts[labels[i]]
        for p in range(row_ptr[i], row_ptr[i + 1]):
            label = labels[cols[p]]
            if counts[label] > most:
                best, most = label, counts[label]
            counts[label] = 0
        out[i] = best


def _gather(
    row_ptr: Array,
    cols: Array,
    values: Array,
    order: Array,
    rank: Array,
    starts: Array,
    new_cols: Array,
    new_values: Array,
    start: int,
    stop: int,
) -> None:
    """Row order[r] becomes row r, and column j becomes column rank[j]."""
    for r in range(start, stop):
        q = starts[r]
        for p in range(row_ptr[order[r]], row_ptr[order[r] + 1]):
            new_cols[q], new_values[q] = rank[cols[p]], values[p]
            q += 1


follow_hub, vote, gather = map(compiled, (_follow_hub, _vote, _gather))
