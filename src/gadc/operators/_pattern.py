"""Where the non-zeros of a sparse matrix lie, apart from their values.

The pattern of a graph is fixed while its values (edge weights, cosines, normalised weights) change and
are differentiated. Keeping the two apart lets every transition over one graph share one pattern, and
lets gradients flow to values without ever leaving the sparse world.
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
    """Compressed sparse rows without values.

    Args:
        row_ptr: Entries `row_ptr[i]:row_ptr[i + 1]` belong to row i.
        cols: Column of each entry, ascending within a row.
        num_cols: Number of columns.
        symmetric: Whether (j, i) is known to be an entry wherever (i, j) is.
    """

    row_ptr: Tensor
    cols: Tensor
    num_cols: int
    symmetric: bool = False

    @classmethod
    def from_keys(
        cls, keys: Tensor, num_rows: int, num_cols: int, *, symmetric: bool = False
    ) -> SparsePattern:
        """Build from sorted, distinct keys `row * num_cols + col`."""
        # 32-bit indices halve the traffic of every product and are what the BLAS back end wants.
        small = max(len(keys), num_rows, num_cols) <= _INT32_MAX
        dtype = torch.int32 if small else torch.int64
        rows = torch.div(keys, num_cols, rounding_mode="floor")
        row_ptr = torch.zeros(num_rows + 1, dtype=dtype, device=keys.device)
        row_ptr[1:] = torch.bincount(rows, minlength=num_rows).cumsum(0)
        return cls(row_ptr, (keys - rows * num_cols).to(dtype), num_cols, symmetric)

    @classmethod
    def from_entries(cls, rows: Tensor, cols: Tensor, num_rows: int, num_cols: int) -> SparsePattern:
        """Build from distinct entries that are sorted by row and then by column."""
        return cls.from_keys(edge_keys((rows, cols), num_cols), num_rows, num_cols)

    @classmethod
    def empty(cls, num_rows: int, num_cols: int, device: torch.device | str | None = None) -> SparsePattern:
        """The pattern of the zero matrix."""
        return cls.from_keys(torch.empty(0, dtype=torch.int64, device=device), num_rows, num_cols)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(self.row_ptr) - 1

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
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
        """Positions of the stored entries (i, i), in the order of i."""
        return torch.nonzero(self.rows == self.cols).squeeze(1)

    @cached_property
    def transposed(self) -> tuple[SparsePattern, Tensor]:
        """The pattern of the transpose, and the order that carries values over to it."""
        order = torch.argsort(self.cols, stable=True)
        if self.symmetric:  # a new object, as a cycle would keep the memory of both
            return SparsePattern(self.row_ptr, self.cols, self.num_cols, symmetric=True), order
        entries = self.cols[order], self.rows[order]
        return SparsePattern.from_entries(*entries, self.num_cols, self.num_rows), order

    @cached_property
    def incidence(self) -> tuple[SparsePattern, Tensor]:
        """A row for each entry (i, j) above the diagonal, with entries in i and j; and where these are."""
        positions = torch.nonzero(self.rows < self.cols).squeeze(1)
        row_ptr = torch.arange(len(positions) + 1, dtype=self.cols.dtype, device=self.cols.device) * 2
        ends = torch.stack([self.rows[positions], self.cols[positions]], 1)
        return SparsePattern(row_ptr, ends.flatten(), self.num_cols), positions

    def union(self, other: SparsePattern) -> tuple[SparsePattern, Tensor, Tensor]:
        """Return the entries of both patterns, and the places of the entries of either among them."""
        keys, place = torch.unique(torch.cat([self.keys, other.keys]), return_inverse=True)
        symmetric = self.symmetric and other.symmetric
        pattern = SparsePattern.from_keys(keys, self.num_rows, self.num_cols, symmetric=symmetric)
        return pattern, place[: self.nnz], place[self.nnz :]

    def to(self, device: torch.device | str) -> SparsePattern:
        """The same pattern on another device."""
        if torch.device(device) == self.cols.device:
            return self
        return SparsePattern(self.row_ptr.to(device), self.cols.to(device), self.num_cols, self.symmetric)
