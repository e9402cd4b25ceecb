"""Ids of nodes, and the query of the positions 0..n-1 of both ends, which streams through the edge table."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gadc.datasets.tables._columns import EdgeColumns
from gadc.datasets.tables._expressions import is_expression, read_expression
from gadc.datasets.tables._problems import Problems
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table
from gadc.datasets.tables._values import whole_numbers


@dataclass(frozen=True, kw_only=True)
class Nodes:
    """The nodes of a graph.

    Args:
        ids: Ids, all int64 or all text.
        rows: Row number of each node as the user counts rows. Added nodes have no row and come last in `ids`.
        notes: Notes for the report.
        left_out: Row numbers of the rows that are not nodes, since they have no id or repeat one.
        num_consecutive: Number of nodes if their ids are 0..n-1, so that no table is needed to find a
            position; `ids` is not read then. None by default.
    """

    ids: pl.Series
    rows: NDArray[np.int64]
    notes: list[str] = field(default_factory=list)
    left_out: tuple[int, ...] = ()
    num_consecutive: int | None = None


def read_ids(table: Table, column: str, problems: Problems | None = None) -> Nodes:
    """Read the ids of a node table; rows without an id and repeated rows are left out.

    Args:
        table: The node table.
        column: The column of the ids.
        problems: Where problems are collected; by default the first one is raised.

    Raises:
        TableError: The table has no rows.
    """
    problems = Problems() if problems is None else problems
    frame = table.collect(table.numbered(id=table.col(column)))
    rows, raw, notes = frame["row"].to_numpy(), frame["id"], []
    if raw.dtype.is_float():
        notes.append(f"the ids in {column!r} of {table.name} are floats and were read as whole numbers")
    if not len(raw):
        raise TableError("the node table must have at least one row, got none.", file=table.name)
    ids = (
        whole_numbers(raw)
        if table.text
        else frame.select(_as_id(pl.col("id"), raw.dtype, table, column))["id"]
    )
    empty, repeated = ids.is_null(), ~ids.is_first_distinct() & ids.is_not_null()
    if empty.any():
        at = int(empty.arg_max() or 0)
        problem = TableError(
            _id_error(raw[at], int(empty.sum())), file=table.name, row=int(rows[at]), column=column
        )
        problems.settle(
            "empty-ids", f"{int(empty.sum()):,} rows of {table.name} without an id were left out", problem
        )
    if repeated.any():
        at = int((ids.is_duplicated() & ~empty).arg_max() or 0)
        more = f" ({int(repeated.sum()):,} rows repeat an id)" if repeated.sum() > 1 else ""
        message = f"the id {ids[at]!r} occurs more than once{more}."
        problem = TableError(message, file=table.name, row=int(rows[at]), column=column)
        note = f"{int(repeated.sum()):,} rows of {table.name} that repeat an id were left out"
        problems.settle("duplicate-ids", note, problem)
    kept = ~(empty | repeated)
    return Nodes(
        ids=ids.filter(kept),
        rows=rows[kept.to_numpy()],
        notes=notes,
        left_out=tuple(rows[~kept.to_numpy()].tolist()),
    )


def _id_error(value: object, count: int) -> str:
    more = f" ({count:,} such rows)" if count > 1 else ""
    if value is None or value != value:  # NaN
        return f"the id is empty{more}."
    return f"an id must be text or a whole number, got {value!r}{more}."


def _as_id(cell: pl.Expr, dtype: pl.DataType, table: Table, column: str) -> pl.Expr:
    """Convert a cell to an id, int64 or text; a float that is not a whole number becomes null."""
    if dtype == pl.String or dtype in (pl.Categorical, pl.Enum):
        return cell
    if dtype.is_integer():
        return cell.cast(pl.Int64, strict=False)
    if dtype.is_float():
        return pl.when(cell == cell.floor()).then(cell).cast(pl.Int64, strict=False)
    raise TableError(f"ids must be text or whole numbers, got {dtype}.", file=table.name, column=column)


def positions(edges: EdgeColumns, nodes: Nodes, *, numbered: bool = False) -> pl.LazyFrame:
    """Build the query of `match`; `numbered` adds row numbers and the ids themselves.

    Columns: `s` and `t` (positions, null if unknown), `w` (if weighted), `r` (if there are relations); if
    numbered also `row`, the ids
    `source` and `target`, and the cells `raw_source` and `raw_target`.
    """
    table, kind = edges.table, nodes.ids.dtype
    columns = {}
    for end, name in (("source", edges.source), ("target", edges.target)):
        columns[end] = _as_id(table.col(name), table.schema[name], table, name).cast(kind, strict=False)
        columns |= {f"raw_{end}": table.col(name)} if numbered else {}
    if edges.is_weighted:
        columns["w"] = weight_of(edges)
    if edges.relation is not None:
        columns["r"] = table.col(edges.relation).cast(pl.String).fill_null("")
    query = table.numbered(**columns) if numbered else table.select(**columns)
    for end, short in (("source", "s"), ("target", "t")):
        query = _with_position(query, nodes, end, short)
        query = query if numbered else query.drop(end)
    return query


def _with_position(query: pl.LazyFrame, nodes: Nodes, end: str, short: str) -> pl.LazyFrame:
    """Add the position of an end as the column `short`; null for an unknown node."""
    if nodes.num_consecutive is not None:
        known = pl.col(end).is_between(0, nodes.num_consecutive - 1)
        return query.with_columns(pl.when(known).then(pl.col(end)).cast(pl.Int32).alias(short))
    position = pl.int_range(pl.len(), dtype=pl.Int32)
    lookup = pl.LazyFrame({"id": nodes.ids}).with_columns(position.alias(short))
    return query.join(lookup, left_on=end, right_on="id", how="left")


def weight_of(edges: EdgeColumns) -> pl.Expr:
    """Return the expression of the weights as float64; a cell that is not a number is null."""
    weight = pl.lit(1.0) if edges.weight is None else _listed_weight(edges.table, edges.weight)
    return weight if edges.decay is None else weight * edges.decay


def _listed_weight(table: Table, column: str) -> pl.Expr:
    if is_expression(table, column):
        return read_expression(table, column)
    dtype = table.schema[column]
    if not (table.text or dtype.is_numeric() or dtype == pl.Boolean):
        raise TableError(f"weights must be numbers, got {dtype}.", file=table.name, column=column)
    return table.numbers(column)


def check_filled(edges: EdgeColumns) -> None:
    """Refuse an edge whose end is empty, whatever is done about unknown nodes."""
    for name in (edges.source, edges.target):
        cell, dtype = edges.table.col(name), edges.table.schema[name]
        empty = cell.is_null() | cell.is_nan() if dtype.is_float() else cell.is_null()
        found = edges.table.collect(edges.table.numbered(empty=empty).filter("empty").head(1))
        if len(found):
            raise TableError("the id is empty.", file=edges.table.name, row=found["row"][0], column=name)
