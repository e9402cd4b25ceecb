"""Columns of text as numbers, and what to say about cells that are not."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from gadc.datasets.tables._values import parse_numbers

# How people write that a value is missing; such cells do not count when a column is judged to be numeric.
_MISSING = (
    "na",
    "n/a",
    "#n/a",
    "n.a.",
    "k.a.",
    "null",
    "none",
    "nil",
    "missing",
    "unknown",
    "-",
    "--",
    "?",
    ".",
)
_OTHER = {".": ",", ",": ".", None: ","}


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A text column that holds numbers.

    Args:
        values: The numbers as float32, null where a cell is empty or not a number.
        bad: Which cells are filled but not numbers.
        decimal: The decimal mark that makes numbers of all cells, if it is not that of the table.
    """

    values: pl.Series
    bad: pl.Series
    decimal: str | None = None


def read_numbers(series: pl.Series, decimal: str | None, *, surely: bool = False) -> Numbers | None:
    """Read a text column as numbers (true and false as 1 and 0); return None if it is not numeric.

    A column is numeric if more than half of its filled cells are numbers, where cells that say that a value
    is missing do not count; or if all are numbers with the other decimal mark.

    Args:
        series: The cells.
        decimal: Decimal mark of the table; None if it is not known.
        surely: Whether the column is known to be numeric. Default: no.
    """
    lower = series.str.to_lowercase()
    values = lower.drop_nulls()
    if values.len() and values.is_in(["true", "false"]).all():
        return Numbers(values=(lower == "true").cast(pl.Float32), bad=_none_of(series))
    numbers = _parsed(series, decimal)
    bad = numbers.is_null() & series.is_not_null()
    if not bad.any():
        return Numbers(values=numbers, bad=bad)
    said_missing = lower.is_in(list(_MISSING)).fill_null(False)
    judged = series.is_not_null() & ~said_missing
    wrong = bad & judged
    other = _OTHER[decimal]
    if wrong.any() and not (_parsed(series, other).is_null() & judged).any():
        return Numbers(values=numbers, bad=bad, decimal=other)
    if surely or (judged.any() and 2 * int(wrong.sum()) < int(judged.sum())):
        return Numbers(values=numbers, bad=bad)
    return None


def _parsed(series: pl.Series, decimal: str | None) -> pl.Series:
    return pl.select(parse_numbers(pl.lit(series), decimal)).to_series().cast(pl.Float32)


def _none_of(series: pl.Series) -> pl.Series:
    return pl.repeat(False, len(series), eager=True)
