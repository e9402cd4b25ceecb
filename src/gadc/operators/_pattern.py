"""The positions of the entries of a sparse matrix, without their values.

The pattern of a graph is fixed while its values (edge weights, cosines, normalised weights) change and are
differentiated. Since the two are separate, all transitions over one graph share one pattern, and gradients
flow to values without dense matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import torch
from torch import Tensor

from gadc._base.pairs import edge_keys

_INT32_MAX = 2**31 - 1
_BLOCK = 1 << 20  # rows that are searched at a time


def index_type(largest: int) -> torch.dtype:
    """Return the integer type of indices up to `largest`: 32 bits halve the memory traffic of a product."""
    return torch.int32 if largest <= _INT32_MAX else torch.int64


@dataclass(frozen=True, eq=False)
class SparsePattern:
    """The positions of the entries of a sparse matrix, as compressed rows (CSR).

    Args:
        row_ptr: Entries `row_ptr[i]:row_ptr[i + 1]` belong to row i, in 32 or 64 bits.
        cols: Column of each entry, ascending within a row, in 32 or 64 bits, whichever `row_ptr` has.
        num_cols: Number of columns.
        symmetric: Whether (j, i) is known to be an entry for every entry (i, j). By default it is not.

    Shapes:
        - **row_ptr:** (number of rows + 1,)
        - **cols:** (number of entries,)

    Examples:
        >>> import torch
        >>> from gadc.operators import SparsePattern
        >>> pattern = SparsePattern.from_entries(torch.tensor([0, 0, 2]), torch.tensor([0, 2, 1]), 3, 3)
        >>> pattern.row_ptr.tolist(), pattern.cols.tolist()
        ([0, 2, 2, 3], [0, 2, 1])
    """

    row_ptr: Tensor
    cols: Tensor
    num_cols: int
    symmetric: bool = False

    @classmethod
    def from_keys(
        cls, keys: Tensor, num_rows: int, num_cols: int, *, symmetric: bool = False
    ) -> SparsePattern:
        """Build a pattern from sorted, distinct keys `row * num_cols + col`."""
        rows = torch.div(keys, num_cols, rounding_mode="floor")
        row_ptr = torch.zeros(num_rows + 1, dtype=index_type(len(keys)), device=keys.device)
        row_ptr[1:] = torch.bincount(rows, minlength=num_rows).cumsum(0)
        return cls(row_ptr, (keys - rows * num_cols).to(index_type(num_cols)), num_cols, symmetric)

    @classmethod
    def from_entries(cls, rows: Tensor, cols: Tensor, num_rows: int, num_cols: int) -> SparsePattern:
        """Build a pattern from distinct entries that are sorted by row and then by column."""
        return cls.from_keys(edge_keys((rows, cols), num_cols), num_rows, num_cols)

    @classmethod
    def empty(cls, num_rows: int, num_cols: int, device: torch.device | str | None = None) -> SparsePattern:
        """Build the pattern of the zero matrix."""
        return cls.from_keys(torch.empty(0, dtype=torch.int64, device=device), num_rows, num_cols)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(self.row_ptr) - 1

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return len(self.cols)

    @cached_property
    def rows(self) -> Tensor:
        """Row of each entry, which is kept: one number per entry."""
        return self._list_rows()

    def _list_rows(self) -> Tensor:
        """Return the row of each entry, which is not kept unless it is known already."""
        known = self.__dict__.get("rows")
        if known is not None:
            return cast("Tensor", known)
        numbers = torch.arange(self.num_rows, dtype=index_type(self.num_rows), device=self.cols.device)
        return torch.repeat_interleave(numbers, self.row_ptr.diff(), output_size=self.nnz)

    @property
    def keys(self) -> Tensor:
        """Sorted keys `row * num_cols + col` of the entries, see `gadc._base.pairs`."""
        return edge_keys((self._list_rows(), self.cols), self.num_cols)

    @cached_property
    def diagonal(self) -> Tensor:
        """Places of the entries (i, i) among all entries, in the order of i."""
        starts = range(0, self.num_rows, _BLOCK) if self.nnz else ()
        none = torch.empty(0, dtype=torch.int64, device=self.cols.device)
        return torch.cat(
            [none, *(self._find_diagonal(one, min(one + _BLOCK, self.num_rows)) for one in starts)]
        )

    def _find_diagonal(self, first: int, last: int) -> Tensor:
        """Search rows first:last for their diagonal entries, all of them at once, by halving."""
        low, end = self.row_ptr[first:last].long(), self.row_ptr[first + 1 : last + 1].long()
        rows = torch.arange(first, last, device=low.device)
        high, furthest = end, self.nnz - 1
        for _ in range(int((end - low).max()).bit_length()):
            middle = torch.div(low + high, 2, rounding_mode="floor")
            before = (low < high) & (self.cols[middle.clamp(max=furthest)] < rows)
            low, high = torch.where(before, middle + 1, low), torch.where(before, high, middle)
        found = (low < end) & (self.cols[low.clamp(max=furthest)] == rows)
        return low[found]

    @cached_property
    def transposed(self) -> tuple[SparsePattern, Tensor]:
        """The pattern of the transpose, and the order in which it takes the values."""
        order = torch.argsort(self.cols, stable=True)
        if self.symmetric:  # a new object, since a reference to itself would keep its memory
            return SparsePattern(self.row_ptr, self.cols, self.num_cols, symmetric=True), order
        entries = self.cols[order], self._list_rows()[order]
        return SparsePattern.from_entries(*entries, self.num_cols, self.num_rows), order

    @cached_property
    def incidence(self) -> tuple[SparsePattern, Tensor]:
        """The pattern with one row per entry (i, j) above the diagonal and entries in columns i and j.

        The second result holds the places of the entries above the diagonal among all entries.
        """
        rows = self._list_rows()
        positions = torch.nonzero(rows < self.cols).squeeze(1)
        index = index_type(2 * len(positions))
        row_ptr = torch.arange(len(positions) + 1, dtype=index, device=self.cols.device) * 2
        ends = torch.stack([rows[positions], self.cols[positions]], 1)
        return SparsePattern(row_ptr, ends.flatten(), self.num_cols), positions

    def union(self, other: SparsePattern) -> tuple[SparsePattern, Tensor, Tensor]:
        """Merge two patterns of the same shape.

        Returns:
            The pattern with the entries of both, and the places of the entries of each pattern in it.
        """
        keys, place = torch.unique(torch.cat([self.keys, other.keys]), return_inverse=True)
        symmetric = self.symmetric and other.symmetric
        pattern = SparsePattern.from_keys(keys, self.num_rows, self.num_cols, symmetric=symmetric)
        return pattern, place[: self.nnz], place[self.nnz :]

    def to(self, device: torch.device | str) -> SparsePattern:
        """Return the pattern on another device."""
        if torch.device(device) == self.cols.device:
            return self
        return SparsePattern(self.row_ptr.to(device), self.cols.to(device), self.num_cols, self.symmetric)
