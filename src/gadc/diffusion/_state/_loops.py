"""The loops of an update, compiled by Numba; `_reference` is the same in plain Python.

    while some row |R_i| > θ v_i:    F_i += R_i;  R += ρ T[:, i] R_i;  R_i -= R_i

R is kept in float64, and it is reduced by what F_i really changed by, after rounding. So R is always the rest
of the F that is stored, and the rounding of F in float32 is part of it. A graph is undirected: column i of T
has the entries of row i. A finite series has one level per step: F of one level is pushed into R of the next.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gadc.diffusion._state._arrays import LEFT, RIGHT, SIZE
from gadc.diffusion._state._entry_loops import _entry, _known, _part
from gadc.operators._numba.loops import compiled
from gadc.operators._numba.prefetch import prefetch

Array = Any
QUEUED, TOUCHED, CHANGED, MOVED = 1, 2, 4, 8  # bits of the marks of a row
DONE, LOG_FULL, OVER_BUDGET = 0, 1, 2
_AHEAD = 8  # entries ahead of which rows are fetched into the cache
HEAD, WAITING, LOGGED, ENTRIES, PUSHES = 0, 1, 2, 3, 4  # places in `counts`


def _norm_of(matrix: Array, i: Any) -> Any:
    total = 0.0
    for c in range(matrix.shape[1]):
        total += np.float64(matrix[i, c]) ** 2
    return math.sqrt(total)


def _touch_row(
    i: Any,
    marks: Array,
    counts: Array,
    log_rows: Array,
    log_features: Array,
    log_rests: Array,
    features: Array,
    rests: Array,
) -> None:
    """Keep what a row is before its first change."""
    if marks[i] & TOUCHED == 0:
        marks[i] |= TOUCHED
        place = counts[LOGGED]
        log_rows[place] = i
        for c in range(features.shape[1]):
            log_features[place, c] = features[i, c]
            log_rests[place, c] = rests[i, c]
        counts[LOGGED] = place + 1


def _enqueue_row(i: Any, queue: Array, counts: Array, marks: Array) -> None:
    if marks[i] & QUEUED == 0:
        marks[i] |= QUEUED
        queue[(counts[HEAD] + counts[WAITING]) % len(queue)] = i
        counts[WAITING] += 1


_touch, _enqueue = map(_part, (_touch_row, _enqueue_row))
_norm = compiled(_norm_of, "reassoc")


def _add_row(flat: Array, start: Any, factor: Any, delta: Array) -> Any:
    """Add factor · delta to flat[start : ...] and return the sum of the squares there."""
    total = 0.0
    for c in range(np.uint64(len(delta))):
        value = flat[start + c] + factor * delta[c]
        flat[start + c] = value
        total += value * value
    return total


_add = compiled(_add_row, "reassoc")


def _receive_row(
    j: Any, factor: Any, delta: Array, limit: Any, flat: Array, queue: Array, counts: Array, marks: Array
) -> None:
    """Add factor · delta to R_j, and let the row wait if it is above the limit."""
    square = _add(flat, np.uint64(j) * np.uint64(len(delta)), factor, delta)
    if square > limit * limit:
        _enqueue(j, queue, counts, marks)


def _fetch_rows(
    first: Any, last: Any, cols: Array, flat: Array, columns: Any, table: Array, marks: Array
) -> None:
    """Fetch what a push needs of the neighbours first:last into the cache."""
    for p in range(first, last):
        j = np.intp(cols[p])
        prefetch(table, 4 * j)
        prefetch(marks, j)
        for c in range(0, columns, 8):
            prefetch(flat, j * columns + c)


_receive, _fetch = map(_part, (_receive_row, _fetch_rows))


def _push(
    features: Array,
    rests: Array,
    next_features: Array,
    next_rests: Array,
    x: Array,
    rows: Any,
    rule: Any,
    ratio: float,
    limits: Array,
    queue: Array,
    counts: Array,
    marks: Array,
    log: Any,
    next_queue: Array,
    next_counts: Array,
    next_marks: Array,
    next_log: Any,
    budget: int,
    sizes: Array,
) -> int:
    """Push the waiting rows of one level; for the whole series, the next level is the level itself.

    Args:
        features: F of this level.
        rests: R of this level.
        next_features: F of the level that is pushed to.
        next_rests: R of that level.
        x: X.
        rows: A.
        rule: How T is computed.
        ratio: ρ.
        limits: θ of this level and of the next one.
        queue: Waiting rows, a ring.
        counts: See `HEAD`.
        marks: Bits of each row, see `QUEUED`.
        log: What rows were before.
        next_queue: The same four of the next level.
        next_counts: See above.
        next_marks: See above.
        next_log: See above.
        budget: Number of entries to read at most.
        sizes: Place 0 receives the largest |R_i| / v_i that was pushed.

    Returns:
        `DONE`, `LOG_FULL` (enlarge the logs and call again) or `OVER_BUDGET`.
    """
    columns = features.shape[1]
    # Arrays are taken out of their tuples once: within a loop, Numba would count references to them.
    cols, weights, starts, lengths = rows.cols, rows.weights, rows.start, rows.length
    plain, similar, nodes = rule.plain, rule.similar, rule.nodes
    log_rows, log_features, log_rests = log.rows, log.features, log.rests
    next_rows, next_old, next_old_rests = next_log.rows, next_log.features, next_log.rests
    delta = np.empty(columns)
    flat = next_rests.reshape(-1)
    table = nodes.reshape(-1)
    while counts[WAITING] > 0:
        if counts[ENTRIES] > budget:
            return OVER_BUDGET
        i = queue[counts[HEAD]]
        length = lengths[i]
        if counts[LOGGED] + length + 2 > len(log_rows) or next_counts[LOGGED] + length + 2 > len(next_rows):
            return LOG_FULL
        counts[HEAD] = (counts[HEAD] + 1) % len(queue)
        counts[WAITING] -= 1
        marks[i] &= ~QUEUED
        begin = starts[i]
        end = begin + length
        _fetch(begin, min(begin + _AHEAD, end), cols, flat, columns, table, next_marks)
        norm = _norm(rests, i)
        if not norm > limits[0] * nodes[i, SIZE]:
            continue
        _touch(i, marks, counts, log_rows, log_features, log_rests, features, rests)
        moved = False
        for c in range(columns):
            before = features[i, c]
            features[i, c] = before + rests[i, c]
            delta[c] = np.float64(features[i, c]) - np.float64(before)
            rests[i, c] -= delta[c]
            moved = moved or delta[c] != 0.0
        if not moved:
            continue
        marks[i] |= MOVED
        sizes[0] = max(sizes[0], norm / nodes[i, SIZE])
        counts[PUSHES] += 1
        counts[ENTRIES] += length + 1
        loop = ratio * rule.loop * nodes[i, LEFT] * nodes[i, RIGHT]
        _touch(i, next_marks, next_counts, next_rows, next_old, next_old_rests, next_features, next_rests)
        limit = limits[1] * nodes[i, SIZE]
        _receive(i, loop, delta, limit, flat, next_queue, next_counts, next_marks)
        for p in range(begin, end):
            if p + _AHEAD < end:
                _fetch(p + _AHEAD, p + _AHEAD + 1, cols, flat, columns, table, next_marks)
            j = cols[p]
            factor = ratio * _entry(j, i, weights[p], plain, similar, nodes, x)
            _touch(j, next_marks, next_counts, next_rows, next_old, next_old_rests, next_features, next_rests)
            limit = limits[1] * nodes[j, SIZE]
            _receive(j, factor, delta, limit, flat, next_queue, next_counts, next_marks)
    return DONE


def _shift(
    changed: Array,
    sign: float,
    features: Array,
    next_features: Array,
    next_rests: Array,
    x: Array,
    rows: Any,
    rule: Any,
    ratio: float,
    counts: Array,
    marks: Array,
    log: Any,
    sums: Array,
) -> None:
    """Take ρ T_jc F_c out of R_j (sign -1), or put it in, at the neighbours j of the changed nodes c.

    Changed nodes themselves are left out: their rows are computed from scratch. `sums` receives
    |T_jc| v_c / v_j in the same way, unless it is empty.
    """
    cols, weights = rows.cols, rows.weights
    plain, similar, nodes = rule.plain, rule.similar, rule.nodes
    known = rule.apart * rule.plain
    log_rows, log_features, log_rests = log.rows, log.features, log.rests
    for k in range(len(changed)):
        i = changed[k]
        for p in range(rows.start[i], rows.start[i] + rows.length[i]):
            j = cols[p]
            if marks[j] & CHANGED:
                continue
            _touch(j, marks, counts, log_rows, log_features, log_rests, next_features, next_rests)
            value = sign * _entry(j, i, weights[p], plain, similar, nodes, x)
            for c in range(features.shape[1]):
                next_rests[j, c] += ratio * value * features[i, c]
            if len(sums):
                size = abs(value - sign * _known(j, i, weights[p], known, nodes))
                sums[j] += sign * size * nodes[i, SIZE] / nodes[j, SIZE]
        counts[ENTRIES] += rows.length[i]


def _residual_row(
    i: Any,
    features: Array,
    next_features: Array,
    x: Array,
    rows: Any,
    rule: Any,
    ratio: float,
    share: float,
    out: Array,
) -> None:
    """Set out = share X_i - F'_i + ρ Σ_j T_ij F_j, where F' is the next level."""
    cols, weights = rows.cols, rows.weights
    plain, similar, nodes = rule.plain, rule.similar, rule.nodes
    loop = ratio * rule.loop * nodes[i, LEFT] * nodes[i, RIGHT]
    for c in range(x.shape[1]):
        out[c] = share * x[i, c] - np.float64(next_features[i, c]) + loop * features[i, c]
    for p in range(rows.start[i], rows.start[i] + rows.length[i]):
        j = cols[p]
        value = ratio * _entry(i, j, weights[p], plain, similar, nodes, x)
        for c in range(x.shape[1]):
            out[c] += value * features[j, c]


_residual_of = compiled(_residual_row)


def _rebuild(
    changed: Array,
    features: Array,
    next_features: Array,
    next_rests: Array,
    x: Array,
    rows: Any,
    rule: Any,
    ratio: float,
    share: float,
    counts: Array,
    marks: Array,
    log: Any,
) -> None:
    """Compute the rows of R of changed nodes from scratch."""
    for k in range(len(changed)):
        i = changed[k]
        _touch(i, marks, counts, log.rows, log.features, log.rests, next_features, next_rests)
        _residual_of(i, features, next_features, x, rows, rule, ratio, share, next_rests[i])
        counts[ENTRIES] += rows.length[i] + 1


def _wait_above(
    counts: Array, log: Any, rests: Array, rule: Any, limit: float, queue: Array, marks: Array, sizes: Array
) -> None:
    """Let the touched rows above the limit wait."""
    for k in range(counts[LOGGED]):
        i = log.rows[k]
        size = _norm(rests, i) / rule.nodes[i, SIZE]
        if size > limit:
            _enqueue(i, queue, counts, marks)
            sizes[0] = max(sizes[0], size)


def _largest(counts: Array, log: Any, rests: Array, rule: Any) -> float:
    """Return the largest |R_i| / v_i of the touched rows."""
    largest = 0.0
    for k in range(counts[LOGGED]):
        i = log.rows[k]
        largest = max(largest, _norm(rests, i) / rule.nodes[i, SIZE])
    return largest


push, shift, rebuild = map(compiled, (_push, _shift, _rebuild))
wait_above, largest = map(compiled, (_wait_above, _largest))
