"""Columns of a node table as numbers: the feature matrix, the labels and the ids.

A column of a text file counts as numeric when more than half of its filled cells are numbers; a cell that is
not one is then an error with its row, never a column that quietly disappears.
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

MAX_CATEGORIES = 1000  # more is an identifier or free text, and would be a matrix nobody wants
_STRINGS = (pl.String, pl.Categorical, pl.Enum)
_TEXT = 'is text (categorical="onehot" would encode it)'


@dataclass(kw_only=True)
class FeatureReader:
    """Reads columns one by one into blocks of `x`, and keeps what it finds on the way.

    Args:
        table: The node table.
        rows: Row number of each of its nodes as the user counts.
        added: Further nodes that the table does not hold.
        named: Whether the user named the columns; one that is no feature is then an error, else left out.
        categorical: "error" or "onehot".
        missing: "error", "mean" or "zero".
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
        """The feature matrix from `columns`, in their order."""
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
        """Whether the type of a column allows it to be a feature at all."""
        dtype = self.table.schema[name]
        if self.table.text or dtype.is_numeric() or dtype == pl.Boolean:
            return True
        if dtype in _STRINGS and self.categorical == "onehot":
            return True
        self._leave_out(name, _TEXT if dtype in _STRINGS else f"is of type {dtype}")
        return False

    def _leave_out(self, name: str, reason: str) -> None:
        if self.named:
            raise self._error(f"cannot be a feature: it {reason}.", name)
        self.left_out[name] = reason

    def _cell(self, name: str) -> pl.Expr:
        """A cell as float32 where the type says that it is a number, else as text."""
        if self.table.text or self.table.schema[name] in _STRINGS:
            return self.table.col(name)
        return self.table.col(name).cast(pl.Float32, strict=False)

    def _block(self, name: str, series: pl.Series) -> NDArray[np.float32]:
        """The columns of `x` that one column of the table gives (maybe none), missing cells as NaN."""
        numbers = series if series.dtype == pl.Float32 else self._parse(name, series)
        if numbers is not None:
            column = numbers.to_numpy().astype(np.float32)
            if np.isinf(column).any():
                raise self._error(
                    "is infinite or too large for 32 bits.", name, int(np.isinf(column).argmax())
                )
            self.names.append(name)
            return column.reshape(-1, 1)
        if series.null_count() < len(series) and self.categorical == "onehot":
            return self._one_hot(name, series)
        self._leave_out(name, _TEXT if series.null_count() < len(series) else "is empty")
        return np.empty((len(series), 0), dtype=np.float32)

    def _parse(self, name: str, series: pl.Series) -> pl.Series | None:
        """Text as numbers (true and false as 1 and 0), or None if the column is text."""
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
        if 2 * int(bad.sum()) < filled or (self.named and self.categorical == "error"):
            at = int(bad.arg_max() or 0)
            advice = (
                "leave a missing cell empty; name the other columns in `features` if this one is no feature"
            )
            raise self._error(f"{series[at]!r} is not a number ({advice}).", name, at)
        return None

    def _one_hot(self, name: str, series: pl.Series) -> NDArray[np.float32]:
        codes, values = encode(series)
        if len(values) > MAX_CATEGORIES:
            raise self._error(
                f"has {len(values)} different values, and one-hot encoding takes at most {MAX_CATEGORIES}; "
                "name the columns you want in `features`.",
                name,
            )
        block = np.zeros((len(codes), len(values)), dtype=np.float32)
        block[np.arange(len(codes)), codes] = 1.0
        block[codes < 0] = np.nan
        self.names += [f"{name}={value}" for value in values]
        return block

    def _filled(self, name: str, block: NDArray[np.float32]) -> NDArray[np.float32]:
        """Refuse or fill missing cells, those of added nodes included."""
        if not block.shape[1]:
            return np.empty((len(block) + self.added, 0), dtype=np.float32)
        if self.added:
            block = np.vstack([block, np.full((self.added, block.shape[1]), np.nan, dtype=np.float32)])
        gaps = np.isnan(block[:, 0])
        if not gaps.any():
            return block
        if self.missing == "error":
            at = int(gaps.argmax())
            what = "the cell is empty" if at < len(self.rows) else "added nodes have no value here"
            advice = 'missing="mean" or missing="zero" would fill it'
            raise self._error(f"{what}; {advice}.", name, at if at < len(self.rows) else None)
        known = block[~gaps]
        block[gaps] = known.mean(axis=0, dtype=np.float64) if self.missing == "mean" and len(known) else 0.0
        self.imputed[name] = int(gaps.sum())
        return block
