"""Edges as pairs of positions 0..n-1: empty and unknown ends, unusable weights, and added nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from gadc.datasets.tables._columns import EdgeColumns
from gadc.datasets.tables._ids import Nodes, positions, weight_of
from gadc.datasets.tables._problems import Problems
from gadc.datasets.tables._report import TableError

_MAX_WEIGHT = 1e30  # any number of repeated edges then adds up to a 32-bit number


@dataclass(frozen=True, kw_only=True)
class Matched:
    """The edges whose ends are nodes.

    Args:
        frame: Positions of the ends in the columns `s` and `t`, weights in the column `w` (if weighted) and
            row numbers in the column `row` (if numbered).
        nodes: The nodes, with the added ones.
        unknown: Number of rows that were left out because an end is not a node.
        unusable: Number of rows that were left out because an end is empty or the weight cannot be used.
    """

    frame: pl.DataFrame
    nodes: Nodes
    unknown: int = 0
    unusable: int = 0


def match(
    edges: EdgeColumns,
    nodes: Nodes,
    unknown: str,
    *,
    numbered: bool = False,
    problems: Problems | None = None,
) -> Matched:
    """Find the positions of the two ends of all edges.

    Args:
        edges: The edge table.
        nodes: The nodes of the node table.
        unknown: What to do with an end that is not a node: "error", "drop" the edge, or "add" the node.
        numbered: Whether to add the user's row numbers; False by default.
        problems: Where problems are collected; by default the first one is raised.
    """
    problems = Problems() if problems is None else problems
    query = positions(edges, nodes, numbered=numbered)
    if numbered:
        query = query.drop("source", "raw_source", "target", "raw_target")
    found = edges.table.collect(query)
    rows = len(found)
    good = _good(edges)
    if edges.is_weighted and not found.select(good.all()).item():
        found = found.filter(good)
        _tell_weights(edges, rows - len(found), problems)
    bad = rows - len(found)
    missing = found.select((pl.col("s").is_null() | pl.col("t").is_null()).sum()).item()
    if not missing:
        return Matched(frame=found, nodes=nodes, unusable=bad)
    empty = _tell_empty(edges, problems)
    left = found.drop_nulls()
    del found
    if missing == empty or unknown == "drop":
        return Matched(frame=left, nodes=nodes, unknown=missing - empty, unusable=bad + empty)
    if unknown == "add":
        del left
        quiet = Problems(repair=("empty-ids", "bad-weights"))  # both were told above
        added = _with_added(edges, nodes)
        return match(edges, added, "error", numbered=numbered, problems=quiet)
    problems.report(_unknown_error(edges, nodes, missing - empty, rows))
    return Matched(frame=left, nodes=nodes, unknown=missing - empty, unusable=bad + empty)


def _good(edges: EdgeColumns) -> pl.Expr:
    """Return the condition of a usable weight."""
    return pl.col("w").is_between(-_MAX_WEIGHT if edges.signed else 0, _MAX_WEIGHT).fill_null(False)


def _tell_weights(edges: EdgeColumns, count: int, problems: Problems) -> None:
    """Report weights that are missing, negative or too large to be added up."""
    column = edges.weight or edges.source  # a decay alone is a usable weight
    listed = column in edges.table.schema  # otherwise it is an expression, whose value is the cell
    cell = edges.table.col(column) if listed else weight_of(edges)
    raw = edges.table.numbered(w=weight_of(edges), raw=cell)
    bad = edges.table.collect(raw.filter(~_good(edges)).head(1))
    row, number, value = bad.select("row", "w", "raw").row(0)
    least = f"of size <= {_MAX_WEIGHT:g}" if edges.signed else f">= 0 (and <= {_MAX_WEIGHT:g})"
    what = (
        "the weight is empty" if value is None else f"a weight must be a finite number {least}, got {value!r}"
    )
    if number is not None and -_MAX_WEIGHT <= number < 0:
        what += " (signed=True accepts negative weights)"
    if edges.table.text and isinstance(value, str) and edges.table.decimal is None and "," in value:
        what += ' (decimal="," reads it as a decimal mark, decimal="." as a mark of thousands)'
    what += f" ({count:,} such rows)" if count > 1 else ""
    problem = TableError(f"{what}.", file=edges.table.name, row=row, column=column)
    problems.settle("bad-weights", f"{count:,} edges without a usable weight were left out", problem)


def _tell_empty(edges: EdgeColumns, problems: Problems) -> int:
    """Report edges with an empty end and a usable weight, and count them."""
    columns = {}
    for short, name in (("s", edges.source), ("t", edges.target)):
        cell, dtype = edges.table.col(name), edges.table.schema[name]
        columns[short] = cell.is_null() | cell.is_nan() if dtype.is_float() else cell.is_null()
    if edges.is_weighted:
        columns["w"] = weight_of(edges)
    query = edges.table.numbered(**columns).filter(pl.col("s") | pl.col("t"))
    empty = edges.table.collect(query.filter(_good(edges)) if edges.is_weighted else query).sort("row")
    if len(empty):
        name = edges.source if empty["s"][0] else edges.target
        more = f" ({len(empty):,} such rows)" if len(empty) > 1 else ""
        problem = TableError(
            f"the id is empty{more}.", file=edges.table.name, row=empty["row"][0], column=name
        )
        problems.settle("empty-ids", f"{len(empty):,} edges with an empty end were left out", problem)
    return len(empty)


def _unknown_error(edges: EdgeColumns, nodes: Nodes, missing: int, rows: int) -> TableError:
    """Describe the first edges whose ends are not in the node table, and what the user can do."""
    unknown = [
        pl.col(short).is_null() & pl.col(f"raw_{end}").is_not_null()
        for end, short in (("source", "s"), ("target", "t"))
    ]
    query = positions(edges, nodes, numbered=True).filter(unknown[0] | unknown[1])
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
        unknown = pl.col(short).is_null() & pl.col(f"raw_{end}").is_not_null()
        ends.append(query.filter(unknown).select(pl.col(end).alias("id")))
    ids = edges.table.collect(pl.concat(ends).unique())["id"]
    if not ids.null_count():
        return replace(nodes, ids=pl.concat([nodes.ids, ids.sort()]))
    if nodes.ids.dtype == pl.String:
        raise TableError("an id that names a new node must be text or a whole number.", file=edges.table.name)
    note = "the edges name nodes by text, the node table by numbers; all ids were read as text"
    return _with_added(edges, replace(nodes, ids=nodes.ids.cast(pl.String), notes=[*nodes.notes, note]))
