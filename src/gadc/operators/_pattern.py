"""The positions of the entries of a sparse matrix, without their values.

The pattern of a graph is fixed while its values (edge weights, cosines, normalised weights) change and are
differentiated. Since the two are separate, all transitions over one graph share one pattern, and gradients
flow to values without dense matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from gadc._base.pairs import edge_keys

_INT32_MAX = 2**31 - 1


@dataclass(frozen=True, eq=False)
class SparsePattern:
    """The positions of the entries of a sparse matrix, as compressed rows (CSR).

    Args:
        row_ptr: Entries `row_ptr[i]:row_ptr[i + 1]` belong to row i.
        cols: Column of each entry, ascending within a row.
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
        # Indices of 32 bits halve the memory traffic of every product, and MKL requires them.
        small = max(len(keys), num_rows, num_cols) <= _INT32_MAX
        dtype = torch.int32 if small else torch.int64
        rows = torch.div(keys, num_cols, rounding_mode="floor")
        row_ptr = torch.zeros(num_rows + 1, dtype=dtype, device=keys.device)
        row_ptr[1:] = torch.bincount(rows, minlength=num_rows).cumsum(0)
        return cls(row_ptr, (keys - rows * num_cols).to(dtype), num_cols, symmetric)

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
        """Row of each entry."""
        lengths = self.row_ptr.diff()
        return torch.repeat_interleave(
            torch.arange(self.num_rows, dtype=self.cols.dtype, device=self.cols.device), lengths
        )

    @property
    def keys(self) -> Tensor:
        """Sorted keys `row * num_cols + col` of the entries, see `gadc._base.pairs`."""
        return edge_keys((self.rows, self.cols), self.num_cols)

    @cached_property
    def diagonal(self) -> Tensor:
        """Places of the entries (i, i) among all entries, in the order of i."""
        return torch.nonzero(self.rows == self.cols).squeeze(1)

    @cached_property
    def transposed(self) -> tuple[SparsePattern, Tensor]:
        """The pattern of the transpose, and the order in which it takes the values."""
        order = torch.argsort(self.cols, stable=True)
        if self.symmetric:  # a new object, since a reference to itself would keep its memory
            return SparsePattern(self.row_ptr, self.cols, self.num_cols, symmetric=True), order
        entries = self.cols[order], self.rows[order]
        return SparsePattern.from_entries(*entries, self.num_cols, self.num_rows), order

    @cached_property
    def incidence(self) -> tuple[SparsePattern, Tensor]:
        """The pattern with one row per entry (i, j) above the diagonal and entries in columns i and j.

        The second result holds the places of the entries above the diagonal among all entries.
        """
        positions = torch.nonzero(self.rows < self.cols).squeeze(1)
        row_ptr = torch.arange(len(positions) + 1, dtype=self.cols.dtype, device=self.cols.device) * 2
        ends = torch.stack([self.rows[positions], self.cols[positions]], 1)
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
