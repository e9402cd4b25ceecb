"""Dates as numbers: days since the first date, and the day of the week (Monday is 1).

A date like 03/04/2024 can be read in two ways. Such a column is read only if its cells show which one holds.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

_CLEAR = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
)
_DAY_OR_MONTH = ("%d/%m/%Y", "%m/%d/%Y")
_DIGITS = r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
_ZONE = r"(\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?$"  # fractions and zones are not read
AMBIGUOUS = "its dates can be read in two ways; write them as YYYY-MM-DD"
_DAY = 86400.0


def is_temporal(dtype: pl.DataType) -> bool:
    """Tell whether a column holds dates or times with a date."""
    return dtype == pl.Date or isinstance(dtype, pl.Datetime)


def read_dates(series: pl.Series) -> pl.Series | None:
    """Read a column as points in time; return None if it does not hold dates."""
    if is_temporal(series.dtype):
        return series.cast(pl.Datetime("us"))
    filled = series.drop_nulls()
    if series.dtype != pl.String or not len(filled) or not filled.str.contains(_DIGITS).all():
        return None
    text = series.str.replace(_ZONE, "$1")
    for form in _CLEAR:
        dates = text.str.to_datetime(form, strict=False, time_unit="us")
        if dates.null_count() == series.null_count():
            return dates
    ways = [text.str.to_datetime(form, strict=False, time_unit="us") for form in _DAY_OR_MONTH]
    whole = [dates for dates in ways if dates.null_count() == series.null_count()]
    return whole[0] if len(whole) == 1 else None


def find_format(filled: pl.Series, *, either: bool = False) -> str | None:
    """Find the format that reads most cells of text; None if it reads less than a half.

    Args:
        filled: Cells, none of them empty.
        either: Whether to accept a format although day and month can be exchanged. Default: no.
    """
    cells = filled.to_frame("t").select(
        date_cell(pl.col("t"), form).is_not_null().sum().alias(form) for form in (*_CLEAR, *_DAY_OR_MONTH)
    )
    counts = {form: int(cells[form][0]) for form in cells.columns}
    best = max(counts, key=counts.__getitem__)
    if 2 * counts[best] < max(len(filled), 1):
        return None
    same = [form for form in _DAY_OR_MONTH if counts[form] == counts[best]]
    return None if best in _DAY_OR_MONTH and len(same) > 1 and not either else best


def date_cell(cell: pl.Expr, form: str) -> pl.Expr:
    """Read text in a format; a cell that is not written so, or whose year has two digits, is null."""
    moment = cell.str.replace(_ZONE, "$1").str.to_datetime(form, strict=False, time_unit="us")
    return pl.when(moment.dt.year() >= 1000).then(moment)


def is_ambiguous(series: pl.Series) -> bool:
    """Tell whether a text column holds dates whose day and month cannot be told apart."""
    filled = series.drop_nulls()
    if series.dtype != pl.String or not len(filled):
        return False
    ways = [filled.str.to_datetime(form, strict=False) for form in _DAY_OR_MONTH]
    return all(dates.null_count() == 0 for dates in ways)


def date_features(dates: pl.Series, start: str) -> NDArray[np.float32]:
    """Return days since `start` and the day of the week, NaN for empty cells; shape (rows, 2)."""
    first = np.datetime64(start, "us").astype(np.int64)
    days = (dates.cast(pl.Int64) - int(first)) / (1e6 * _DAY)
    columns = [days.cast(pl.Float32), dates.dt.weekday().cast(pl.Float32)]
    return np.stack([column.to_numpy().astype(np.float32) for column in columns], axis=1)
