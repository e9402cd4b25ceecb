"""Nodes or edges with attributes as the tables that `from_tables` reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from gadc.datasets.tables._table import Table
from gadc.datasets.tables._values import whole_numbers


def attribute_table(name: str, columns: dict[str, list[str]], attributes: Sequence[dict[str, Any]]) -> Table:
    """A table of ids and attributes; ids come first, and no attribute takes their name."""
    names = list(dict.fromkeys(key for values in attributes for key in values))
    series = []
    for column, ids in columns.items():
        while column in names:
            column += "_"
        series.append(whole_numbers(pl.Series(column, ids, dtype=pl.String)))
    series += [pl.Series(key, [values.get(key) for values in attributes], strict=False) for key in names]
    frame = pl.DataFrame(series)
    return Table(name=name, frame=frame.lazy(), schema=dict(frame.schema))
