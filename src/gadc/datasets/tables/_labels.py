"""The classes of the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table
from gadc.datasets.tables._values import encode, parse_numbers, whole_numbers

_MAX_DECIMALS = 20  # a text column with more different decimal numbers holds a quantity, not classes


def read_labels(
    table: Table, rows: NDArray[np.int64] | Sequence[int], column: str
) -> tuple[NDArray[np.int64], list[Any], list[str]]:
    """Read the classes of the nodes.

    Args:
        table: The node table.
        rows: Row number of each node as the user counts rows.
        column: Column with the classes.

    Returns:
        The class of each node (-1 for an empty cell), the sorted class names, and notes for the report.
    """
    series = table.collect(table.select(label=table.col(column)))["label"]
    notes = []
    if table.text:
        series = whole_numbers(series)
        _refuse_measurements(series, table, rows, column)
    elif series.dtype.is_float():
        series = _from_floats(series, table, rows, column)
        notes.append(f"the labels in {column!r} are floats and were read as whole numbers")
    elif series.dtype == pl.Boolean:
        series = series.cast(pl.String)
    elif series.dtype == pl.String:
        series = pl.select(pl.when(series.str.strip_chars() != "").then(series)).to_series()
    elif not series.dtype.is_integer():
        raise TableError(
            f"labels must be text or whole numbers, got {series.dtype}.", file=table.name, column=column
        )
    codes, names = encode(series)
    if -1 in names:
        notes.append(
            f"the label -1 in {column!r} was read as a class; leave the cell of an unlabelled node empty"
        )
    return codes, names, notes


def _refuse_measurements(
    series: pl.Series, table: Table, rows: NDArray[np.int64] | Sequence[int], column: str
) -> None:
    """Refuse a text column of many decimal numbers: a quantity, which classes cannot be."""
    if series.dtype != pl.String or series.n_unique() <= _MAX_DECIMALS:
        return
    numbers = pl.select(parse_numbers(pl.lit(series), table.decimal)).to_series()
    if numbers.null_count() == series.null_count():
        _from_floats(numbers, table, rows, column)


def _from_floats(
    series: pl.Series, table: Table, rows: NDArray[np.int64] | Sequence[int], column: str
) -> pl.Series:
    """Convert floats with whole values to int64; NaN becomes null."""
    series = series.fill_nan(None)
    broken = (series != series.floor()).fill_null(False) | series.is_infinite().fill_null(False)
    if broken.any():
        at = int(broken.arg_max() or 0)
        raise TableError(
            f"a label must be text or a whole number, got {series[at]!r}.",
            file=table.name,
            row=int(rows[at]),
            column=column,
        )
    return series.cast(pl.Int64, strict=False)
