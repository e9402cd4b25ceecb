"""Columns of a node table as the feature matrix.

A column of a text file counts as numeric when more than half of its filled cells are numbers. A cell of such
a column that is not a number is a problem with its row; the column never disappears silently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gadc._base.memory import check_memory
from gadc.datasets.tables._categories import choose_categories
from gadc.datasets.tables._dates import AMBIGUOUS, date_features, is_ambiguous, is_temporal, read_dates
from gadc.datasets.tables._numbers import read_numbers
from gadc.datasets.tables._preparation import FeatureColumn, FeaturePreparation
from gadc.datasets.tables._problems import Problems
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
        categorical: What to do with text columns and dates: "skip", "onehot" (text) or "auto".
        missing: What to do with an empty cell: "error", "mean" or "zero".
        known: How the columns of an earlier table were read, to read these in the same way. Default: None.
        problems: Where problems are collected. Default: the first one is raised.

    Attributes:
        names: Names of the columns of `x`.
        imputed: Number of filled cells by column.
        left_out: Columns that were left out, with the reason.
        notes: Values that were not seen in the earlier table.
        columns: How the columns were read, in the order of `x`.
    """

    table: Table
    rows: NDArray[np.int64] | Sequence[int]
    added: int
    named: bool
    categorical: str
    missing: str
    known: FeaturePreparation | None = None
    problems: Problems = field(default_factory=Problems)
    names: list[str] = field(default_factory=list)
    imputed: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    columns: list[FeatureColumn] = field(default_factory=list)
    _empty: list[tuple[str, int, int]] = field(default_factory=list)  # column, number of cells, the first
    _not_a_number: dict[str, NDArray[np.bool_]] = field(default_factory=dict)  # cells with "nan", by column

    @property
    def preparation(self) -> FeaturePreparation:
        """How the columns were read, to read another table in the same way."""
        return FeaturePreparation(
            columns=tuple(self.columns), categorical=self.categorical, missing=self.missing
        )

    def read(self, columns: Sequence[str]) -> NDArray[np.float32]:
        """Read the feature matrix from `columns`, in their order."""
        kept = [name for name in columns if self._readable(name)]
        nodes = len(self.rows) + self.added
        needed = 8 * nodes * len(kept)  # every column, and all of them side by side
        check_memory(self.table.name, needed, f"x of {nodes:,} nodes and {len(kept):,} features")
        query = self.table.select(**{str(i): self._cell(name) for i, name in enumerate(kept)})
        frame = self.table.collect(query) if kept else pl.DataFrame()
        blocks = [
            self._filled(self._block(name, series), self._known(name))
            for name, series in zip(kept, frame, strict=True)
        ]
        (name, count), *_ = Counter(self.names).most_common(1) or [("", 1)]
        if self._empty:
            self.problems.report(self._empty_cells())
        if count > 1:  # a category "b" of column "a" beside a column "a=b"
            raise self._error(f"{count} features are called {name!r}; rename the column.", name)
        return np.hstack([np.empty((nodes, 0), dtype=np.float32), *blocks])

    def _error(self, message: str, column: str, at: int | None = None) -> TableError:
        row = None if at is None else int(self.rows[at])
        return TableError(message, file=self.table.name, row=row, column=column)

    def _readable(self, name: str) -> bool:
        """Tell whether a column can be a feature by its type; leave it out if not."""
        dtype = self.table.schema[name]
        if self.table.text or dtype.is_numeric() or dtype == pl.Boolean:
            return True
        known = self._known(name)
        if is_temporal(dtype) and (self.categorical == "auto" if known is None else known.start):
            return True
        encoded = self.categorical != "skip" if known is None else known.categories or known.start
        if dtype in _STRINGS and encoded:
            return True
        self._leave_out(name, _TEXT if dtype in _STRINGS else f"it has type {dtype}")
        return False

    def _leave_out(self, name: str, reason: str) -> None:
        if self.named:
            self.problems.report(self._error(f"cannot be a feature: {reason}.", name))
        self.left_out[name] = reason

    def _cell(self, name: str) -> pl.Expr:
        """Read a column as float32 if its type is numeric, else as text."""
        known = self._known(name)
        dtype = self.table.schema[name]
        if self.table.text or dtype in _STRINGS or is_temporal(dtype) or (known and known.categories):
            return self.table.col(name)
        return self.table.col(name).cast(pl.Float32, strict=False)

    def _known(self, name: str) -> FeatureColumn | None:
        """Return how a column of the earlier table was read."""
        return next((one for one in self.known.columns if one.name == name), None) if self.known else None

    def _block(self, name: str, series: pl.Series) -> tuple[FeatureColumn, NDArray[np.float32]] | None:
        """Convert one column of the table to columns of `x`, NaN for missing cells; None if left out."""
        known = self._known(name)
        if known is not None and known.categories is not None:
            return self._one_hot(name, series.cast(pl.String), known.categories, other=known.other)
        if known is not None and known.start is not None:
            return self._date_block(name, series, known.start)
        numbers = series if series.dtype == pl.Float32 else self._parse(name, series)
        if numbers is not None:
            column = numbers.to_numpy().astype(np.float32)
            self._not_a_number[name] = numbers.is_nan().fill_null(False).to_numpy()
            if np.isinf(column).any():
                self._not_numbers(name, series, pl.Series(np.isinf(column)), "infinite or too large")
                column[np.isinf(column)] = np.nan
            return FeatureColumn(name=name), column.reshape(-1, 1)
        if series.null_count() == len(series):
            self._leave_out(name, "it is empty")
            return None
        if self.categorical == "onehot":
            return self._one_hot(name, series)
        if self.categorical == "auto":
            return self._encoded(name, series)
        self._leave_out(name, _TEXT)
        return None

    def _encoded(self, name: str, series: pl.Series) -> tuple[FeatureColumn, NDArray[np.float32]] | None:
        """Encode dates as numbers and short text as categories; leave other text out."""
        dates = read_dates(series)
        if dates is not None:
            return self._date_block(name, series, str(dates.min()))
        chosen = AMBIGUOUS if is_ambiguous(series) else choose_categories(series)
        if isinstance(chosen, str):
            self._leave_out(name, chosen)
            return None
        return self._one_hot(name, series, chosen[0], other=chosen[1], unseen=False)

    def _date_block(
        self, name: str, series: pl.Series, start: str
    ) -> tuple[FeatureColumn, NDArray[np.float32]]:
        """Encode dates as days since a date and days of the week."""
        dates = read_dates(series)
        if dates is None:  # in the table of the model these were dates
            filled = series.is_not_null()
            if filled.any():
                self._not_numbers(name, series, filled, "not a date")
            return FeatureColumn(name=name, start=start), np.full((len(series), 2), np.nan, dtype=np.float32)
        return FeatureColumn(name=name, start=start), date_features(dates, start)

    def _parse(self, name: str, series: pl.Series) -> pl.Series | None:
        """Parse text as numbers; return None if the column is not numeric."""
        filled = series.len() - series.null_count()
        if self.known is not None and not filled:
            return series.cast(pl.Float32, strict=False)
        if not self.table.text or not filled:
            return None
        found = read_numbers(series, self.table.decimal, surely=self.known is not None)
        if found is None:
            return None
        if found.bad.any():
            self._not_numbers(name, series, found.bad, "not a number", found.decimal)
        return found.values

    def _not_numbers(
        self, name: str, series: pl.Series, bad: pl.Series, what: str, decimal: str | None = None
    ) -> None:
        """Report cells that are not numbers, with the mark that would make numbers of them."""
        at, count = int(bad.arg_max() or 0), int(bad.sum())
        more = ""
        if count > 1:
            common = series.filter(bad).cast(pl.String).value_counts(sort=True).head(3).rows()
            more = f" ({count:,} cells are not: {', '.join(f'{value!r} {n:,} times' for value, n in common)})"
        if decimal is not None:
            advice = f'use decimal="{decimal}" if that is its decimal mark'
            self.problems.report(self._error(f"{series[at]!r} is {what}{more}; {advice}.", name, at))
            return
        problem = self._error(
            f"{series[at]!r} is {what}{more}. Leave the cell empty if the value is missing; "
            "name the other columns in `features` if this column is not a feature.",
            name,
            at,
        )
        self.problems.settle(
            "non-numbers", f"column {name!r}: {count:,} cells that are {what} count as empty", problem
        )

    def _one_hot(
        self,
        name: str,
        series: pl.Series,
        categories: tuple[str, ...] | None = None,
        *,
        other: bool = False,
        unseen: bool = True,
    ) -> tuple[FeatureColumn, NDArray[np.float32]]:
        """Encode text by one column per value: the given ones (with one more for others), or all of them."""
        codes, values = encode(series)
        if categories is None and len(values) > MAX_CATEGORIES:
            raise self._error(
                f"the column has {len(values)} different values, but one-hot encoding takes at most "
                f"{MAX_CATEGORIES}; name the columns you need in `features`.",
                name,
            )
        order = tuple(map(str, values)) if categories is None else categories
        place = {value: at for at, value in enumerate(order)}
        at = np.array([*(place.get(str(value), -1) for value in values), -1])[codes]
        if unseen:
            self._note_unseen(name, [str(one) for one in values if str(one) not in place], codes, at, other)
        at = np.where((at < 0) & other, len(order), at)
        block = np.zeros((len(codes), len(order) + other), dtype=np.float32)
        block[np.flatnonzero(at >= 0), at[at >= 0]] = 1.0
        block[codes < 0] = np.nan
        return FeatureColumn(name=name, categories=order, other=other), block

    def _note_unseen(
        self, name: str, unseen: list[str], codes: NDArray[np.int64], at: NDArray[np.int64], other: bool
    ) -> None:
        """Say which values of a text column are not among the categories of the earlier table."""
        if unseen:
            count, some = int(((codes >= 0) & (at < 0)).sum()), ", ".join(map(repr, unseen[:5]))
            more = ", ..." if len(unseen) > 5 else ""
            self.notes.append(
                f"column {name!r}: {count:,} cells hold values that were not seen before ({some}{more}); "
                f"they are encoded as {'other values' if other else 'zeros'}"
            )

    def _filled(
        self, read: tuple[FeatureColumn, NDArray[np.float32]] | None, known: FeatureColumn | None
    ) -> NDArray[np.float32]:
        """Refuse or fill missing cells, also those of added nodes, and record how the column was read."""
        if read is None:
            return np.empty((len(self.rows) + self.added, 0), dtype=np.float32)
        column, block = read
        if self.added:
            block = np.vstack([block, np.full((self.added, block.shape[1]), np.nan, dtype=np.float32)])
        gaps = np.isnan(block[:, 0])
        encoded = column.categories is not None or column.start is not None
        fill = self._fill(block[~gaps], encoded=encoded) if known is None else known.fill
        self.columns.append(replace(column, fill=fill))
        self.names += column.raw_names
        if not gaps.any():
            return block
        if fill is None:
            self._empty.append((column.name, int(gaps.sum()), int(gaps.argmax())))
            return block
        block[gaps] = fill
        self.imputed[column.name] = int(gaps.sum())
        return block

    def _fill(self, filled: NDArray[np.float32], *, encoded: bool) -> tuple[float, ...] | None:
        """Return what an empty cell becomes, by the cells that are not empty; None if it is an error.

        A column that "auto" encoded gets the mean, so that it does not fail where nobody asked for it.
        """
        if self.missing == "error" and not (encoded and self.categorical == "auto"):
            return None
        if self.missing == "zero" or not len(filled):
            return (0.0,) * int(filled.shape[1])
        means: list[float] = filled.mean(axis=0, dtype=np.float64).tolist()
        return tuple(means)

    def _empty_cells(self) -> TableError:
        """Describe all empty cells and what the user can do."""
        name, _, at = self._empty[0]
        in_table = at < len(self.rows)
        what = "the cell is empty" if in_table else "added nodes have no value in this column"
        if in_table and name in self._not_a_number and self._not_a_number[name][at]:
            what = "the cell holds NaN (not a number), which counts as empty"
        if sum(one[1] for one in self._empty) > 1:
            some = ", ".join(f"{column!r} {number:,}" for column, number, _ in self._empty[:5])
            more = ", ..." if len(self._empty) > 5 else ""
            what += f" (empty cells by column: {some}{more})"
        advice = 'use missing="mean" or missing="zero" to fill it'
        if self.known is not None:
            advice += " when the first table is read; the model was fitted without a value for empty cells"
        return self._error(f"{what}; {advice}.", name, at if in_table else None)
