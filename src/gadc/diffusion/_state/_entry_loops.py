"""The entries of T, as the loops of an update compute them; T written out, and sums of its rows."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from gadc.diffusion._state._arrays import INVERSE, LEFT, RIGHT, SIZE
from gadc.operators._numba.loops import compiled

Array = Any


def _part(function: Any) -> Any:
    """Compile a function that the loops below call; the compiler may inline it."""
    return numba.njit(function, nogil=True, fastmath={"contract"})


def _dot(x: Array, i: Any, j: Any) -> Any:
    total = 0.0
    for c in range(x.shape[1]):
        total += np.float64(x[i, c]) * np.float64(x[j, c])
    return total


def _entry_of(i: Any, j: Any, weight: Any, plain: Any, similar: Any, nodes: Array, x: Array) -> Any:
    """Return T_ij of an edge."""
    value = plain * nodes[i, LEFT] * nodes[j, RIGHT]
    if similar != 0.0:
        value += similar * nodes[i, INVERSE] * nodes[j, INVERSE] * _inner(x, i, j)
    return weight * value


def _known_part(i: Any, j: Any, weight: Any, known: Any, nodes: Array) -> Any:
    """Return the part of T_ij that sums of sizes leave out."""
    return known * weight * nodes[i, LEFT] * nodes[j, RIGHT]


_inner = compiled(_dot, "reassoc")
_entry, _known = map(_part, (_entry_of, _known_part))


def _row_sums(chosen: Array, x: Array, rows: Any, rule: Any, sums: Array) -> None:
    """Compute Σ_j |T_ij| v_j / v_i of chosen rows, without the part that is known."""
    cols, weights = rows.cols, rows.weights
    plain, similar, nodes = rule.plain, rule.similar, rule.nodes
    known = rule.apart * rule.plain
    for k in range(len(chosen)):
        i = chosen[k]
        total = (1 - rule.apart) * abs(rule.loop * nodes[i, LEFT] * nodes[i, RIGHT]) * nodes[i, SIZE]
        for p in range(rows.start[i], rows.start[i] + rows.length[i]):
            j = cols[p]
            value = _entry(i, j, weights[p], plain, similar, nodes, x) - _known(
                i, j, weights[p], known, nodes
            )
            total += abs(value) * nodes[j, SIZE]
        sums[i] = total / nodes[i, SIZE]


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


row_sums, export = map(compiled, (_row_sums, _export))
