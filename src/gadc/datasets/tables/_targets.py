"""Columns with numbers to predict, or with 0 and 1 for several labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table

TASKS = ("classify", "regress", "multilabel")
_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}


def read_targets(
    table: Table, rows: NDArray[np.int64] | Sequence[int], columns: Sequence[str], *, flags: bool
) -> NDArray[np.float64]:
    """Read numbers of the nodes, NaN for an empty cell.

    Args:
        table: The node table.
        rows: Row number of each node as the user counts rows.
        columns: Columns with the numbers.
        flags: Whether cells must be 0 or 1 (or true, false, yes, no), all filled or all empty in a row.

    Returns:
        Matrix with one row per node and one column per column of the table.
    """
    cells = {str(i): table.col(name) for i, name in enumerate(columns)}
    numbers = {f"n{i}": _numbers(table, name, flags) for i, name in enumerate(columns)}
    frame = table.collect(table.select(**cells, **numbers))
    for i, name in enumerate(columns):
        number, cell = frame[f"n{i}"], frame[str(i)]
        wrong = (cell.is_not_null() & number.is_null()) | number.is_infinite().fill_null(False)
        if flags:
            wrong |= (~number.is_in([0.0, 1.0])).fill_null(False)
        if wrong.any():
            at = int(wrong.arg_max() or 0)
            rule = "a label must be 0 or 1" if flags else "a number to predict must be a finite number"
            raise TableError(
                f"{rule}, got {cell[at]!r} and {int(wrong.sum()) - 1:,} more such cells.",
                file=table.name,
                row=int(rows[at]),
                column=name,
            )
    values = frame.select(list(numbers)).to_numpy().astype(np.float64)
    partly = np.isnan(values).any(1) & ~np.isnan(values).all(1)
    if flags and partly.any():
        raise TableError(
            f"the labels of a node must be filled or empty together, got both in {int(partly.sum()):,} rows.",
            file=table.name,
            row=int(rows[int(partly.argmax())]),
        )
    return values


def looks_like_numbers(table: Table, column: str, *, most_classes: int = 50) -> bool:
    """Say whether a column holds a quantity: fractions, or many whole numbers of which most occur once."""
    table.require(column)
    series = table.collect(table.select(cell=table.col(column), number=table.numbers(column)))
    if table.schema[column] == pl.Boolean:
        return False
    known = series.filter(pl.col("cell").is_not_null())
    numbers = known["number"].fill_nan(None)
    if not len(known) or numbers.null_count() > 0:
        return False
    different = numbers.n_unique()
    fractional = bool((numbers != numbers.floor()).any())
    return (fractional and different > 20) or (different > most_classes and different > len(known) / 2)


def _numbers(table: Table, name: str, flags: bool) -> pl.Expr:
    if table.schema[name] == pl.Boolean:
        return table.col(name).cast(pl.Float64)
    number = table.numbers(name).fill_nan(None)
    if not flags or not (table.text or table.schema[name] == pl.String):
        return number
    words = table.col(name).str.to_lowercase().replace_strict(_WORDS, default=None, return_dtype=pl.Float64)
    return number.fill_null(words)


def label_columns(
    owner: str, label: str | Sequence[str] | None, task: str, features: Sequence[str] | None
) -> tuple[str | None, list[str]]:
    """Return the first column of labels and the others, which only several labels per node have."""
    names = [] if label is None else [label] if isinstance(label, str) else list(label)
    if len(names) > 1 and task != "multilabel":
        raise ValueError(f"{owner}: label must be one column unless task is 'multilabel', got {names}.")
    both = [name for name in names[1:] if name in (features or ())]
    if both:
        raise ValueError(f"{owner}: features must not contain a column of label, got {both[0]!r}.")
    return (names[0] if names else None), names[1:]
