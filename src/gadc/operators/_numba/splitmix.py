"""SplitMix64: random bits as a function of a key and a place, so any range of them can be made by itself.

Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_STEP, _FIRST, _SECOND = map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_30, _27, _31 = map(np.uint64, (30, 27, 31))


def scrambled(key: Any, place: Any) -> Any:
    """64 random bits for each place: of arrays as it stands, and of numbers in loops that Numba compiles."""
    word = key + place * _STEP
    word = (word ^ (word >> _30)) * _FIRST
    word = (word ^ (word >> _27)) * _SECOND
    return word ^ (word >> _31)
