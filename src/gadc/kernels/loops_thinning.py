"""The loops behind products with thinned features: what dropout removes is skipped, not multiplied by 0.

A mask has one bit an entry, 64 columns a word. Both products go through it in blocks of 64 columns, so that
the rows which an entry may meet fit the first-level cache, and ask for the next block while they compute.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gadc.kernels.loops import _fetch, _part, _scrambled, compiled
from gadc.kernels.registers import load, lowest, plus, store

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


def _add_to_two(
    sums: Array,
    ones: tuple[Any, Any],
    words: tuple[Any, Any],
    places: tuple[Any, Any],
    flat: Array,
    step: Any,
    rows: Array,
    base: Any,
) -> None:
    """Do so for two rows of `sums`, side by side: an addition to one need not wait for that to the other.

    Where both are the same row, the second word is 0.
    """
    (i, j), (word, other_word), (first, other_first) = ones, words, places
    row, other = load(sums, i), load(sums, j)
    while word != _U(0) and other_word != _U(0):
        bit, other_bit = lowest(word), lowest(other_word)
        word &= word - _U(1)
        other_word &= other_word - _U(1)
        row = plus(row, flat[first + bit * step], rows, base + bit)
        other = plus(other, flat[other_first + other_bit * step], rows, base + other_bit)
    store(sums, j, _add(other, other_word, flat, other_first, step, rows, base))
    store(sums, i, _add(row, word, flat, first, step, rows, base))


_add_two = _part(_add_to_two)


def _split(
    flat: Array, columns: Any, mask: Array, weight: Array, kept: Array, rest: Array, start: int, stop: int
) -> None:
    """Rows of X W in two parts: `kept` gains what the mask keeps of X, `rest` what it does not."""
    count, columns, last = _U(_BITS), _U(columns), _U(stop)
    words = (columns + count - _U(1)) // count
    for first in range(_U(start), last, count):
        end = min(first + count, last)
        for word in range(words):
            low = word * count
            there = ~_U(0) >> (count - min(count, columns - low))
            ahead = min(count, columns - low - count) if word + _U(1) < words else _U(0)
            for i in range(first, end, _U(2)):
                j = min(i + _U(1), end - _U(1))
                other_there = there if j > i else _U(0)  # the last of an odd number has no other
                places = (i * columns + low, j * columns + low)
                if ahead > _U(0):
                    _fetch(flat, places[0] + count, ahead)
                    _fetch(flat, places[1] + count, ahead)
                bits, other_bits = mask[i * words + word], mask[j * words + word]
                both = (bits & there, other_bits & other_there)
                _add_two(kept, (i, j), both, places, flat, _U(1), weight, low)
                both = (~bits & there, ~other_bits & other_there)
                _add_two(rest, (i, j), both, places, flat, _U(1), weight, low)


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
