"""Nodes or edges with attributes as the tables that `from_tables` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from gadc.datasets.tables._table import Table
from gadc.datasets.tables._values import whole_numbers


def attribute_table(
    name: str, columns: Mapping[str, Sequence[str]], attributes: Sequence[Mapping[str, Any]]
) -> Table:
    """Build a table of ids and attributes.

    Args:
        name: Name of the table in messages.
        columns: Column name -> ids. These columns come first; if an attribute has the name of such a column,
            "_" is appended to the name of the column.
        attributes: Attributes of each row, or nothing for all rows.
    """
    names = list(dict.fromkeys(key for values in attributes for key in values))
    series = []
    for column, ids in columns.items():
        while column in names:
            column += "_"
        series.append(whole_numbers(pl.Series(column, ids, dtype=pl.String)))
    series += [pl.Series(key, [values.get(key) for values in attributes], strict=False) for key in names]
    frame = pl.DataFrame(series)
    return Table(name=name, frame=frame.lazy(), schema=dict(frame.schema))
