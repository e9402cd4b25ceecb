"""Text as numbers, and values as codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray


def encode(series: pl.Series) -> tuple[NDArray[np.int64], list[Any]]:
    """Number the values in sorted order.

    Returns:
        One code per cell, -1 for null, and the sorted values.
    """
    codes = series.rank("dense").cast(pl.Int64) - 1
    return codes.fill_null(-1).to_numpy(writable=True), series.drop_nulls().unique().sort().to_list()


def parse_numbers(cell: pl.Expr, decimal: str | None) -> pl.Expr:
    """Read text as float64; a cell that is not a number becomes null.

    Args:
        cell: The text.
        decimal: Decimal mark "." or ",", beside which thousands may be separated, too; None reads numbers as
            a programming language writes them.
    """
    if decimal is None:
        return cell.cast(pl.Float64, strict=False)
    other = {",": ".", ".": ","}[decimal]
    grouped = cell.str.contains(rf"^[+-]?\d{{1,3}}(?:[{other}' \u00a0\u202f]\d{{3}})+(?:[{decimal}]\d+)?$")
    plain = pl.when(grouped).then(cell.str.replace_all(rf"[{other}' \u00a0\u202f]", "")).otherwise(cell)
    if decimal == ",":
        has_point = plain.str.contains(".", literal=True)
        plain = pl.when(~has_point).then(plain.str.replace(",", ".", literal=True))
    return plain.cast(pl.Float64, strict=False)


def whole_numbers(text: pl.Series) -> pl.Series:
    """Convert text to int64 if every cell is a plain whole number; "007" is a name, so the text stays."""
    numbers = text.cast(pl.Int64, strict=False)
    return numbers if (numbers.cast(pl.String) == text).sum() == text.count() else text
