"""The loops behind products with thinned features: what dropout removes is skipped, not multiplied by 0.

A mask has one bit an entry, 64 columns a word. Both products go through it in blocks of 64 columns, so that
the rows which an entry may meet fit the first-level cache, and ask for the next block while they compute.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gadc.operators._numba.loops import _fetch, _part, _scrambled, compiled
from gadc.operators._numba.registers import load, lowest, plus, store

Array = Any
_U = np.uint64
_BITS = 64  # columns of a word
_LEVELS = 16  # bits of the probability
_WORDS = 512  # drawn at a time: they stay in the first-level cache, and a loop over them is vectorised


def _draw(mask: Array, key: Any, keep: Any, start: int, stop: int) -> None:
    """Set each bit of words start:stop with probability keep / 65536.

    Taken from the lowest bit of `keep` on, a random bit halves what is there, and "or" adds a half before.
    """
    level, end = lowest(keep), _U(stop)
    for first in range(_U(start), end, _U(_WORDS)):
        last = min(first + _U(_WORDS), end)
        mask[first:last] = 0
        for bit in range(level, _U(_LEVELS)):
            if (keep >> bit) & _U(1):
                for place in range(first, last):
                    mask[place] |= _scrambled(key, place * _U(_LEVELS) + bit)
            else:
                for place in range(first, last):
                    mask[place] &= _scrambled(key, place * _U(_LEVELS) + bit)


def _add_entries(row: Any, word: Any, flat: Array, first: Any, step: Any, rows: Array, base: Any) -> Any:
    """The row + Σ flat[first + b · step] · (row base + b of a matrix), over the bits b of the word."""
    while word != _U(0):
        bit = lowest(word)
        word &= word - _U(1)
        row = plus(row, flat[first + bit * step], rows, base + bit)
    return row


_add = _part(_add_entries)


def _split(
    flat: Array, columns: Any, mask: Array, weight: Array, kept: Array, rest: Array, start: int, stop: int
) -> None:
    """Rows of X W in two parts: `kept` gains what the mask keeps of X, `rest` what it does not."""
    count, columns, last = _U(_BITS), _U(columns), _U(stop)
    words = (columns + count - _U(1)) // count
    for first in range(_U(start), last, count):
        for word in range(words):
            low = word * count
            width = min(count, columns - low)
            there = ~_U(0) >> (count - width)
            for i in range(first, min(first + count, last)):
                place, bits = i * columns + low, mask[i * words + word]
                if word + _U(1) < words:
                    _fetch(flat, place + count, min(count, columns - low - count))
                store(kept, i, _add(load(kept, i), bits & there, flat, place, _U(1), weight, low))
                store(rest, i, _add(load(rest, i), ~bits & there, flat, place, _U(1), weight, low))


def _transpose(block: Array) -> None:
    """Turn 64 words of 64 bits by their diagonal: quarters change places, then quarters of these, ..."""
    half, low = _U(32), _U(0xFFFFFFFF)
    while half != _U(0):
        k = _U(0)
        while k < _U(_BITS):
            swapped = ((block[k] >> half) ^ block[k | half]) & low
            block[k] ^= swapped << half
            block[k | half] ^= swapped
            k = ((k | half) + _U(1)) & ~half
        half >>= _U(1)
        low ^= low << half


_turn = _part(_transpose)


def _transposed(
    flat: Array, columns: Any, mask: Array, gradient: Array, out: Array, start: int, stop: int
) -> None:
    """Rows of out += Xᵀ G, of what the mask keeps of X, for the columns of words start:stop."""
    count, columns, rows = _U(_BITS), _U(columns), _U(len(gradient))
    words = (columns + count - _U(1)) // count
    block = np.empty(_BITS, np.uint64)
    for first in range(_U(0), rows, count):
        height = min(count, rows - first)
        for word in range(_U(start), _U(stop)):
            low = word * count
            for i in range(count):
                block[i] = mask[(first + i) * words + word] if i < height else _U(0)
            _turn(block)
            ahead = min(count, columns - low - count) if word + _U(1) < _U(stop) else _U(0)
            for j in range(min(count, columns - low)):
                if j < height and ahead > _U(0):
                    _fetch(flat, (first + j) * columns + low + count, ahead)
                place = first * columns + low + j
                sums = load(out, low + j)
                store(out, low + j, _add(sums, block[j], flat, place, columns, gradient, first))


draw, split, transposed = map(compiled, (_draw, _split, _transposed))
