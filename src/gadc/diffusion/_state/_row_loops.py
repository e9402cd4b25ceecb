"""Loops over the rows of a graph that changes, compiled by Numba: look up, edit and copy entries."""

from __future__ import annotations

from typing import Any

from gadc.operators._numba.loops import compiled

Array = Any


def _degrees(chosen: Array, rows: Any, loop: float, out: Array) -> None:
    """Compute loop + Σ_j w_ij of chosen rows."""
    for k in range(len(chosen)):
        i = chosen[k]
        total = loop
        for p in range(rows.start[i], rows.start[i] + rows.length[i]):
            total += rows.weights[p]
        out[i] = total


def _find_entries(first: Array, second: Array, rows: Any, out: Array) -> None:
    """Look up the place of entries in the pool; -1 for an entry that is not there."""
    for k in range(len(first)):
        out[k] = -1
        begin = rows.start[first[k]]
        for p in range(begin, begin + rows.length[first[k]]):
            if rows.cols[p] == second[k]:
                out[k] = p
                break


def _edit(first: Array, second: Array, weights: Array, begin: int, rows: Any, end: Array) -> int:
    """Set entries to weights; 0 deletes an entry. `end` is the first free place of the pool.

    Returns:
        The number of entries that are set; fewer than all if the pool is full.
    """
    for k in range(begin, len(first)):
        i, j = first[k], second[k]
        start, length = rows.start[i], rows.length[i]
        place = -1
        for p in range(start, start + length):
            if rows.cols[p] == j:
                place = p
                break
        if weights[k] == 0:
            if place >= 0:
                last = start + length - 1
                rows.cols[place], rows.weights[place] = rows.cols[last], rows.weights[last]
                rows.length[i] = length - 1
            continue
        if place >= 0:
            rows.weights[place] = weights[k]
            continue
        if length == rows.room[i]:
            room = 2 * length + 4
            if end[0] + room > len(rows.cols):
                return k
            for p in range(length):
                rows.cols[end[0] + p] = rows.cols[start + p]
                rows.weights[end[0] + p] = rows.weights[start + p]
            start = end[0]
            rows.start[i], rows.room[i] = start, room
            end[0] += room
        rows.cols[start + length], rows.weights[start + length] = j, weights[k]
        rows.length[i] = length + 1
    return len(first)


def _pack_rows(rows: Any, target: Any, count: int) -> None:
    """Copy rows to their places in another pool."""
    for i in range(count):
        begin, place = rows.start[i], target.start[i]
        for p in range(rows.length[i]):
            target.cols[place + p] = rows.cols[begin + p]
            target.weights[place + p] = rows.weights[begin + p]


degrees, find_entries, edit, pack_rows = map(compiled, (_degrees, _find_entries, _edit, _pack_rows))
