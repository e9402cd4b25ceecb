"""Columns of a node table as the feature matrix.

A column of a text file counts as numeric when more than half of its filled cells are numbers. A cell of such
a column that is not a number is an error with its row; the column never disappears silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table
from gadc.datasets.tables._values import encode

MAX_CATEGORIES = 1000  # a column with more values is an identifier or free text
_STRINGS = (pl.String, pl.Categorical, pl.Enum)
_TEXT = 'it is text (use categorical="onehot" to encode it)'


@dataclass(kw_only=True)
class FeatureReader:
    """Read columns one by one into blocks of `x`, and record what was decided.

    Args:
        table: The node table.
        rows: Row number of each node as the user counts rows.
        added: Number of further nodes that the table does not hold.
        named: Whether the user named the feature columns. A named column that cannot be a feature is an
            error, any other such column is left out.
        categorical: What to do with a text column: "skip" or "onehot".
        missing: What to do with an empty cell: "error", "mean" or "zero".

    Attributes:
        names: Names of the columns of `x`.
        imputed: Number of filled cells by column.
        left_out: Columns that were left out, with the reason.
    """

    table: Table
    rows: NDArray[np.int64]
    added: int
    named: bool
    categorical: str
    missing: str
    names: list[str] = field(default_factory=list)
    imputed: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def read(self, columns: Sequence[str]) -> NDArray[np.float32]:
        """Read the feature matrix from `columns`, in their order."""
        kept = [name for name in columns if self._readable(name)]
        query = self.table.select(**{str(i): self._cell(name) for i, name in enumerate(kept)})
        frame = self.table.collect(query) if kept else pl.DataFrame()
        blocks = [
            self._filled(name, self._block(name, series)) for name, series in zip(kept, frame, strict=True)
        ]
        return np.hstack([np.empty((len(self.rows) + self.added, 0), dtype=np.float32), *blocks])

    def _error(self, message: str, column: str, at: int | None = None) -> TableError:
        row = None if at is None else int(self.rows[at])
        return TableError(message, file=self.table.name, row=row, column=column)

    def _readable(self, name: str) -> bool:
        """Tell whether a column can be a feature by its type; leave it out if not."""
        dtype = self.table.schema[name]
        if self.table.text or dtype.is_numeric() or dtype == pl.Boolean:
            return True
        if dtype in _STRINGS and self.categorical == "onehot":
            return True
        self._leave_out(name, _TEXT if dtype in _STRINGS else f"it has type {dtype}")
        return False

    def _leave_out(self, name: str, reason: str) -> None:
        if self.named:
            raise self._error(f"cannot be a feature: {reason}.", name)
        self.left_out[name] = reason

    def _cell(self, name: str) -> pl.Expr:
        """Read a column as float32 if its type is numeric, else as text."""
        if self.table.text or self.table.schema[name] in _STRINGS:
            return self.table.col(name)
        return self.table.col(name).cast(pl.Float32, strict=False)

    def _block(self, name: str, series: pl.Series) -> NDArray[np.float32]:
        """Convert one column of the table to columns of `x` (perhaps none), with NaN for missing cells."""
        numbers = series if series.dtype == pl.Float32 else self._parse(name, series)
        if numbers is not None:
            column = numbers.to_numpy().astype(np.float32)
            if np.isinf(column).any():
                at = int(np.isinf(column).argmax())
                raise self._error("the value is infinite or too large for a 32-bit float.", name, at)
            self.names.append(name)
            return column.reshape(-1, 1)
        if series.null_count() < len(series) and self.categorical == "onehot":
            return self._one_hot(name, series)
        self._leave_out(name, _TEXT if series.null_count() < len(series) else "it is empty")
        return np.empty((len(series), 0), dtype=np.float32)

    def _parse(self, name: str, series: pl.Series) -> pl.Series | None:
        """Parse text as numbers (true and false as 1 and 0); return None if the column is not numeric."""
        filled = series.len() - series.null_count()
        if not self.table.text or not filled:
            return None
        lower = series.str.to_lowercase()
        if lower.drop_nulls().is_in(["true", "false"]).all():
            return (lower == "true").cast(pl.Float32)
        numbers = series.cast(pl.Float32, strict=False)
        bad = numbers.is_null() & series.is_not_null()
        if not bad.any():
            return numbers
        if 2 * int(bad.sum()) < filled:
            at = int(bad.arg_max() or 0)
            advice = (
                "Leave the cell empty if the value is missing; "
                "name the other columns in `features` if this column is not a feature."
            )
            raise self._error(f"{series[at]!r} is not a number. {advice}", name, at)
        return None

    def _one_hot(self, name: str, series: pl.Series) -> NDArray[np.float32]:
        codes, values = encode(series)
        if len(values) > MAX_CATEGORIES:
            raise self._error(
                f"the column has {len(values)} different values, but one-hot encoding takes at most "
                f"{MAX_CATEGORIES}; name the columns you need in `features`.",
                name,
            )
        block = np.zeros((len(codes), len(values)), dtype=np.float32)
        block[np.arange(len(codes)), codes] = 1.0
        block[codes < 0] = np.nan
        self.names += [f"{name}={value}" for value in values]
        return block

    def _filled(self, name: str, block: NDArray[np.float32]) -> NDArray[np.float32]:
        """Refuse or fill missing cells, including all cells of added nodes."""
        if not block.shape[1]:
            return np.empty((len(block) + self.added, 0), dtype=np.float32)
        if self.added:
            block = np.vstack([block, np.full((self.added, block.shape[1]), np.nan, dtype=np.float32)])
        gaps = np.isnan(block[:, 0])
        if not gaps.any():
            return block
        if self.missing == "error":
            at = int(gaps.argmax())
            in_table = at < len(self.rows)
            what = "the cell is empty" if in_table else "added nodes have no value in this column"
            advice = 'use missing="mean" or missing="zero" to fill it'
            raise self._error(f"{what}; {advice}.", name, at if in_table else None)
        known = block[~gaps]
        block[gaps] = known.mean(axis=0, dtype=np.float64) if self.missing == "mean" and len(known) else 0.0
        self.imputed[name] = int(gaps.sum())
        return block
