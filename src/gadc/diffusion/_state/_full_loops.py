"""The loop of a full run over all rows, compiled by Numba: T written out."""

from __future__ import annotations

from typing import Any

from gadc.diffusion._state._arrays import LEFT, RIGHT
from gadc.diffusion._state._loops import _entry
from gadc.operators._numba.loops import compiled

Array = Any


def _export(rows: Any, rule: Any, x: Array, row_ptr: Array, cols: Array, values: Array) -> None:
    """Write T as compressed rows with sorted columns: row i is appended to the rows of its neighbours."""
    neighbors, weights = rows.cols, rows.weights
    plain, similar, nodes = rule.plain, rule.similar, rule.nodes
    cursor = row_ptr[:-1].copy()
    for i in range(len(cursor)):
        place = cursor[i]
        cols[place] = i
        values[place] = rule.loop * nodes[i, LEFT] * nodes[i, RIGHT]
        cursor[i] += 1
        for p in range(rows.start[i], rows.start[i] + rows.length[i]):
            j = neighbors[p]
            place = cursor[j]
            cols[place] = i
            values[place] = _entry(j, i, weights[p], plain, similar, nodes, x)
            cursor[j] += 1


export = compiled(_export)
