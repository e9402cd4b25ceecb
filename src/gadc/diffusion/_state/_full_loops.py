"""Loops of a full run over all rows, compiled by Numba: T written out, and what F leaves over."""

from __future__ import annotations

from typing import Any

import numpy as np

from gadc.diffusion._state._arrays import LEFT, RIGHT, SIZE
from gadc.diffusion._state._loops import _entry, _norm, _residual_of
from gadc.operators._numba.loops import compiled

Array = Any


def _residual_norms(
    features: Array,
    next_features: Array,
    x: Array,
    rows: Any,
    rule: Any,
    ratio: float,
    share: float,
    out: Array,
    first: int,
    last: int,
) -> None:
    """Compute |R_i| / v_i of the rows first:last, and keep no row."""
    row = np.empty((1, x.shape[1]))
    for i in range(first, last):
        _residual_of(i, features, next_features, x, rows, rule, ratio, share, row[0])
        out[i] = _norm(row, 0) / rule.nodes[i, SIZE]


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


residual_norms, export = map(compiled, (_residual_norms, _export))
