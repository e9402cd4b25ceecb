"""Ids of nodes, and edges as pairs of positions 0..n-1, by joins that stream through the edge table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gadc.datasets.tables._columns import EdgeColumns
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table
from gadc.datasets.tables._values import whole_numbers

_MAX_WEIGHT = 1e30  # any number of repeated edges then adds up to a 32-bit number


@dataclass(frozen=True, kw_only=True)
class Nodes:
    """The nodes of a graph.

    Args:
        ids: Ids, all int64 or all text.
        rows: Row number of each node as the user counts rows. Added nodes have no row and come last in `ids`.
        notes: Notes for the report.
        num_consecutive: Number of nodes if their ids are 0..n-1, so that no table is needed to find a
            position; `ids` is not read then. None by default.
    """

    ids: pl.Series
    rows: NDArray[np.int64]
    notes: list[str] = field(default_factory=list)
    num_consecutive: int | None = None


def read_ids(table: Table, column: str) -> Nodes:
    """Read the ids of a node table.

    Raises:
        TableError: The table has no rows, or an id is missing or occurs twice.
    """
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
    for bad in (ids.is_null(), ids.is_duplicated()):
        if bad.any():
            at = int(bad.arg_max() or 0)
            message = _id_error(raw[at]) if ids[at] is None else f"the id {ids[at]!r} occurs more than once."
            raise TableError(message, file=table.name, row=int(rows[at]), column=column)
    return Nodes(ids=ids, rows=rows, notes=notes)


def _id_error(value: object) -> str:
    if value is None or value != value:  # NaN
        return "the id is empty."
    return f"an id must be text or a whole number, got {value!r}."


def match(
    edges: EdgeColumns, nodes: Nodes, unknown: str, *, numbered: bool = False
) -> tuple[pl.DataFrame, Nodes, int]:
    """Find the positions of the two ends of all edges.

    Args:
        edges: The edge table.
        nodes: The nodes of the node table.
        unknown: What to do with an end that is not a node: "error", "drop" the edge, or "add" the node.
        numbered: Whether to add the user's row numbers; False by default.

    Returns:
        Positions in the columns `s` and `t`, weights in the column `w` (if weighted) and row numbers in the
        column `row` (if numbered), the nodes with the added ones, and the number of rows that were dropped.
    """
    query = positions(edges, nodes, numbered=numbered)
    if numbered:
        query = query.drop("source", "raw_source", "target", "raw_target")
    found = edges.table.collect(query)
    if edges.weight is not None:
        _check_weight(edges, edges.weight, found["w"])
    missing = found.select((pl.col("s").is_null() | pl.col("t").is_null()).sum()).item()
    if not missing:
        return found, nodes, 0
    check_filled(edges)
    if unknown == "drop":
        return found.drop_nulls(), nodes, missing
    if unknown == "add":
        del found
        return match(edges, _with_added(edges, nodes), "error", numbered=numbered)
    raise _unknown_error(edges, nodes, missing, len(found))


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

    Columns: `s` and `t` (positions, null if unknown), `w` (if weighted); if numbered also `row`, the ids
    `source` and `target`, and the cells `raw_source` and `raw_target`.
    """
    table, kind = edges.table, nodes.ids.dtype
    columns = {}
    for end, name in (("source", edges.source), ("target", edges.target)):
        columns[end] = _as_id(table.col(name), table.schema[name], table, name).cast(kind, strict=False)
        columns |= {f"raw_{end}": table.col(name)} if numbered else {}
    if edges.weight is not None:
        columns["w"] = _weight(edges, edges.weight)
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


def _weight(edges: EdgeColumns, column: str) -> pl.Expr:
    table, dtype = edges.table, edges.table.schema[column]
    if not (table.text or dtype.is_numeric() or dtype == pl.Boolean):
        raise TableError(f"weights must be numbers, got {dtype}.", file=table.name, column=column)
    return table.numbers(column)


def _check_weight(edges: EdgeColumns, column: str, weight: pl.Series) -> None:
    """Refuse weights that are missing, negative or too large to be added up."""
    good = pl.col("w").is_between(0, _MAX_WEIGHT)
    if weight.to_frame().select(good.fill_null(False).all()).item():
        return
    raw = edges.table.numbered(w=_weight(edges, column), raw=edges.table.col(column))
    row, value = edges.table.collect(raw.filter(~good.fill_null(False)).head(1)).select("row", "raw").row(0)
    what = (
        "the weight is empty"
        if value is None
        else f"a weight must be a finite number >= 0 (and <= {_MAX_WEIGHT:g}), got {value!r}"
    )
    raise TableError(f"{what}.", file=edges.table.name, row=row, column=column)


def check_filled(edges: EdgeColumns) -> None:
    """Refuse an edge whose end is empty, whatever is done about unknown nodes."""
    for name in (edges.source, edges.target):
        cell, dtype = edges.table.col(name), edges.table.schema[name]
        empty = cell.is_null() | cell.is_nan() if dtype.is_float() else cell.is_null()
        found = edges.table.collect(edges.table.numbered(empty=empty).filter("empty").head(1))
        if len(found):
            raise TableError("the id is empty.", file=edges.table.name, row=found["row"][0], column=name)


def _unknown_error(edges: EdgeColumns, nodes: Nodes, missing: int, rows: int) -> TableError:
    """Describe the first edges whose ends are not in the node table, and what the user can do."""
    query = positions(edges, nodes, numbered=True).filter(pl.col("s").is_null() | pl.col("t").is_null())
    some = edges.table.collect(query.sort("row").head(3))
    places = [
        f"row {row['row']}: {row['raw_source' if row['s'] is None else 'raw_target']!r}"
        for row in some.iter_rows(named=True)
    ]
    return TableError(
        f"{missing:,} of {rows:,} edges have an end that is not in the node table ({'; '.join(places)}"
        f"{'; ...' if missing > len(places) else ''}). "
        'Use unknown="drop" to leave these edges out, or unknown="add" to add the nodes.',
        file=edges.table.name,
        row=some["row"][0],
    )


def _with_added(edges: EdgeColumns, nodes: Nodes) -> Nodes:
    """Append the nodes that only the edges name, sorted."""
    query = positions(edges, nodes, numbered=True)
    ends = []
    for end, short in (("source", "s"), ("target", "t")):
        ends.append(query.filter(pl.col(short).is_null()).select(pl.col(end).alias("id")))
    ids = edges.table.collect(pl.concat(ends).unique())["id"]
    if not ids.null_count():
        return replace(nodes, ids=pl.concat([nodes.ids, ids.sort()]))
    if nodes.ids.dtype == pl.String:
        raise TableError("an id that names a new node must be text or a whole number.", file=edges.table.name)
    note = "the edges name nodes by text, the node table by numbers; all ids were read as text"
    return _with_added(edges, replace(nodes, ids=nodes.ids.cast(pl.String), notes=[*nodes.notes, note]))
