"""The classes of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table
from gadc.datasets.tables._values import encode, whole_numbers


def read_labels(
    table: Table, rows: NDArray[np.int64], column: str
) -> tuple[NDArray[np.int64], list[Any], list[str]]:
    """Class of each node (-1 for an empty cell), the sorted class names, and notes."""
    series = table.collect(table.select(label=table.col(column)))["label"]
    notes = []
    if table.text:
        series = whole_numbers(series)
    elif series.dtype.is_float():
        series = series.fill_nan(None)
        broken = (series != series.floor()).fill_null(False) | series.is_infinite().fill_null(False)
        if broken.any():
            at = int(broken.arg_max() or 0)
            raise TableError(
                f"{series[at]!r} is neither text nor a whole number.",
                file=table.name,
                row=int(rows[at]),
                column=column,
            )
        series = series.cast(pl.Int64, strict=False)
        notes.append(f"labels in {column!r} are floats with whole values: taken as whole numbers")
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
            f"label -1 in {column!r} is a class like any other; an unlabelled node has an empty cell"
        )
    return codes, names, notes
