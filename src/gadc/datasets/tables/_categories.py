"""Which text columns become categories by themselves, and which are ids or prose."""

from __future__ import annotations

import polars as pl

_MOST = 50  # categories of a column; rarer values share one more
_LONG = 40  # characters on average above which text is prose
_FEW = 10  # different values that are categories in any table


def choose_categories(series: pl.Series) -> tuple[tuple[str, ...], bool] | str:
    """Choose the categories of a text column with filled cells.

    Returns:
        The categories, sorted, and whether other values remain; or the reason why the column has none.
    """
    text = series.cast(pl.String).drop_nulls()
    counts = text.value_counts(sort=True, name="count")
    length: float = text.str.len_chars().mean()  # type: ignore[assignment]
    if length > _LONG:
        return f"it is long text, {length:.0f} characters on average"
    if len(counts) > _FEW and 2 * len(counts) > len(text):
        return f"it is text with {len(counts):,} different values in {len(text):,} cells, an id or free text"
    ordered = counts.sort("count", counts.columns[0], descending=[True, False])[counts.columns[0]]
    return tuple(sorted(ordered.head(_MOST).to_list())), len(counts) > _MOST
