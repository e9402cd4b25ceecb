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


def whole_numbers(text: pl.Series) -> pl.Series:
    """Convert text to int64 if every cell is a plain whole number; "007" is a name, so the text stays."""
    numbers = text.cast(pl.Int64, strict=False)
    return numbers if (numbers.cast(pl.String) == text).sum() == text.count() else text
