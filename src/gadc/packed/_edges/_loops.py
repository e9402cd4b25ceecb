"""Count the common neighbors of the ends of edges, compiled by Numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from gadc.operators._numba.loops import compiled

Array = Any


def _count_common(row_ptr: Array, cols: Array, first: Array, second: Array, out: Array) -> None:
    """Set out_e to the number of common neighbors of the nodes first_e and second_e.

    The shorter list of neighbors is looked up in the longer one, so hubs cost little.
    """
    for e in range(len(first)):
        u, v = first[e], second[e]
        if row_ptr[u + 1] - row_ptr[u] > row_ptr[v + 1] - row_ptr[v]:
            u, v = v, u
        low, end = row_ptr[v], row_ptr[v + 1]
        found = 0
        for p in range(row_ptr[u], row_ptr[u + 1]):
            low += np.searchsorted(cols[low:end], cols[p])
            if low == end:
                break
            if cols[low] == cols[p]:
                found += 1
        out[e] = found


count_common = compiled(_count_common)
