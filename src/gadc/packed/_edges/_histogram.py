"""How often each rounded score occurs: the values that occur, sorted, with their counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of whole numbers.

    Attributes:
        bins: The numbers that occur, ascending.
        counts: How often each occurs.

    Examples:
        >>> import numpy as np
        >>> from gadc.packed._edges._histogram import Histogram
        >>> counted = Histogram.of(np.array([5, 3, 5]))
        >>> counted.ranks(np.array([3, 5])).tolist()
        [1.0, 2.5]
    """

    bins: Integers
    counts: Integers

    @classmethod
    def of(cls, numbers: Integers) -> Histogram:
        """Count numbers."""
        bins, counts = np.unique(numbers, return_counts=True)
        return cls(bins, counts)

    @classmethod
    def merged(cls, parts: Sequence[Histogram]) -> Histogram:
        """Add up counts."""
        bins, place = np.unique(np.concatenate([part.bins for part in parts]), return_inverse=True)
        counts = np.zeros(len(bins), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([part.counts for part in parts]))
        return cls(bins, counts)

    @property
    def total(self) -> int:
        """Number of numbers that were counted."""
        return int(self.counts.sum())

    def ranks(self, numbers: Integers) -> Floats:
        """Return the mean rank of each number, from 1, as `scipy.stats.rankdata` does."""
        below, equal = self._below_and_equal(numbers)
        ranks: Floats = below + (equal + 1) / 2
        return ranks

    def shares_above(self, numbers: Integers) -> Floats:
        """Return the share of the counted numbers above each number; equal ones count half."""
        below, equal = self._below_and_equal(numbers)
        shares: Floats = 1 - (2 * below + equal) / (2 * max(self.total, 1))
        return shares

    def _below_and_equal(self, numbers: Integers) -> tuple[Integers, Integers]:
        until = np.concatenate([[0], np.cumsum(self.counts)])
        left, right = (np.searchsorted(self.bins, numbers, side) for side in ("left", "right"))
        return until[left], until[right] - until[left]
