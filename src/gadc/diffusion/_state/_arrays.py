"""The arrays that the compiled loops share, as tuples with named fields, which Numba understands.

A graph that changes is a list of rows in one pool: row i holds `length[i]` entries from `start[i]` on and may
grow to `room[i]` entries before it moves to the end of the pool. An entry of T is computed when it is read,

    T_ij = w_ij (p l_i r_j + q m_i m_j ⟨X_i, X_j⟩),    T_ii = w l_i r_i,

so a change of an edge or of a feature changes a few numbers per node, and no stored entry.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Array = Any


class Rows(NamedTuple):
    """Rows of A in a pool, in any order within a row, without a diagonal.

    Attributes:
        start: Place of the first entry of each row.
        length: Number of entries of each row.
        room: Number of entries that fit before the row has to move.
        cols: Column of each entry, int32.
        weights: Weight of each entry, in the type of the features.
    """

    start: Array
    length: Array
    room: Array
    cols: Array
    weights: Array


LEFT, RIGHT, INVERSE, SIZE = 0, 1, 2, 3  # columns of `Rule.nodes`


class Rule(NamedTuple):
    """How an entry of T is computed.

    Attributes:
        plain: p, 1 or 0.
        similar: q.
        loop: w, the weight of the self-loops.
        apart: 1 if sums of |T_ij| v_j / v_i leave out the plain part, whose sum is known to be 1; else 0.
        nodes: One row (l, r, m, v) per node, in float64, which is one access to memory; v > 0 is the vector
            of the norm max_i ‖E_i‖ / v_i in which errors are bounded.
    """

    plain: float
    similar: float
    loop: float
    apart: float
    nodes: Array


class Log(NamedTuple):
    """What the rows of one level were before an update.

    Attributes:
        rows: Numbers of the rows.
        features: Their rows of F.
        rests: Their rows of R.
    """

    rows: Array
    features: Array
    rests: Array
