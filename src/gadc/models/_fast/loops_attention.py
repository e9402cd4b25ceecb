"""The loops behind attention, compiled by Numba: all heads in one pass, where torch takes one pass per head.

Matrices are flattened, with the heads of a node or an entry next to each other.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gadc.operators._numba.loops import compiled

Array = Any
_U = np.uint64


def _softmax(
    row_ptr: Array,
    cols: Array,
    values: Array,
    receive: Array,
    send: Array,
    heads: int,
    slope: Any,
    least: Any,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """Compute out_ij = v_ij exp(s_ij) / Σ_l v_il exp(s_il), s_ij = LeakyReLU(receive_i + send_j), per head.

    Args:
        row_ptr: Position of the first entry of each row, and the number of entries at the end.
        cols: Column of each entry.
        values: Value v of each entry.
        receive: Part of the score of each receiving node and head.
        send: Part of the score of each sending node and head.
        heads: Number of heads.
        slope: Slope of the LeakyReLU below 0.
        least: Lower bound of a sum before a division by it.
        out: Result for each entry and head.
        start: First row.
        stop: Row after the last one.
    """
    count = _U(heads)
    peak, total = np.empty(heads, out.dtype), np.empty(heads, out.dtype)
    for i in range(start, stop):
        here, first, last = _U(i) * count, _U(row_ptr[i]), _U(row_ptr[i + 1])
        for h in range(count):
            peak[h], total[h] = -np.inf, 0
        for p in range(first, last):
            there = _U(cols[p]) * count
            for h in range(count):
                score = receive[here + h] + send[there + h]
                score = score if score > 0 else slope * score
                out[p * count + h] = score
                peak[h] = max(peak[h], score)
        for p in range(first, last):
            for h in range(count):
                # Subtracting the largest score cancels in the quotient and keeps exp from overflowing.
                share = values[p] * math.exp(out[p * count + h] - peak[h])
                out[p * count + h] = share
                total[h] += share
        for p in range(first, last):
            for h in range(count):
                out[p * count + h] /= max(total[h], least)


def _softmax_gradient(
    row_ptr: Array,
    cols: Array,
    receive: Array,
    send: Array,
    heads: int,
    slope: Any,
    shares: Array,
    gradient: Array,
    out: Array,
    of_receive: Array,
    start: int,
    stop: int,
) -> None:
    """Compute the gradient in receive_i + send_j of each entry, and its sum over each row."""
    count = _U(heads)
    mean = np.empty(heads, out.dtype)
    for i in range(start, stop):
        here, first, last = _U(i) * count, _U(row_ptr[i]), _U(row_ptr[i + 1])
        for h in range(count):
            mean[h] = 0
        for p in range(first, last):
            for h in range(count):
                mean[h] += shares[p * count + h] * gradient[p * count + h]
        for p in range(first, last):
            there = _U(cols[p]) * count
            for h in range(count):
                change = shares[p * count + h] * (gradient[p * count + h] - mean[h])
                change = change if receive[here + h] + send[there + h] > 0 else slope * change
                out[p * count + h] = change
                of_receive[here + h] += change


def _sums(
    row_ptr: Array, order: Array, entries: Array, heads: int, out: Array, start: int, stop: int
) -> None:
    """Add Σ_p entries[order[p]] over the entries of row i to out_i, in each head."""
    count = _U(heads)
    for i in range(start, stop):
        for p in range(row_ptr[i], row_ptr[i + 1]):
            entry = _U(order[p]) * count
            for h in range(count):
                out[_U(i) * count + h] += entries[entry + h]


def _weighted(
    row_ptr: Array,
    cols: Array,
    order: Array,
    weights: Array,
    mapped: Array,
    heads: int,
    units: int,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """Add Σ_j w_ij mapped_j to out_i in each head; entry p has the weight weights[order[p]]."""
    count, width = _U(heads), _U(units)
    for i in range(start, stop):
        here = _U(i) * count * width
        for p in range(row_ptr[i], row_ptr[i + 1]):
            entry, there = _U(order[p]) * count, _U(cols[p]) * count * width
            for h in range(count):
                weight, low = weights[entry + h], h * width
                for u in range(width):
                    out[here + low + u] += weight * mapped[there + low + u]


def _inner(
    row_ptr: Array,
    cols: Array,
    left: Array,
    right: Array,
    heads: int,
    units: int,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """Compute out_ij = ⟨left_i, right_j⟩ in each head."""
    count, width = _U(heads), _U(units)
    for i in range(start, stop):
        here = _U(i) * count * width
        for p in range(row_ptr[i], row_ptr[i + 1]):
            there = _U(cols[p]) * count * width
            for h in range(count):
                low, product = h * width, out.dtype.type(0)
                for u in range(width):
                    product += left[here + low + u] * right[there + low + u]
                out[_U(p) * count + h] = product


softmax, softmax_gradient, sums, weighted = map(compiled, (_softmax, _softmax_gradient, _sums, _weighted))
inner = compiled(_inner, "reassoc")  # here the sum itself must be reordered to be vectorised
