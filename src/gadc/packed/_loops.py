"""Loops over the entries of a packed graph, compiled by Numba."""

from __future__ import annotations

from typing import Any

from gadc.operators._numba.loops import compiled

Array = Any


def _add_diagonal(row_ptr: Array, cols: Array, weights: Array, out_cols: Array, out_values: Array) -> None:
    """Copy entries and give each row i an entry (i, i) of value 0; without weights the others become 1."""
    n = len(row_ptr) - 1
    weighted = len(weights) > 0
    for i in range(n):
        place = row_ptr[i] + i
        below = True
        for p in range(row_ptr[i], row_ptr[i + 1]):
            if below and cols[p] > i:
                out_cols[place], out_values[place] = i, 0.0
                place += 1
                below = False
            out_cols[place] = cols[p]
            out_values[place] = weights[p] if weighted else 1.0
            place += 1
        if below:
            out_cols[place], out_values[place] = i, 0.0


add_diagonal = compiled(_add_diagonal)
