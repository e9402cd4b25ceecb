"""Number the nodes: those of the node table in its order, then the sorted ones that only the edges name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from gadc._base.tasks import write_array, write_whole
from gadc.datasets.tables._ids import Nodes, check_filled, positions, read_ids
from gadc.datasets.tables._report import TableError
from gadc.packed._format import IDS
from gadc.packed._packing._plan import Plan
from gadc.packed._packing._sources import disk_errors, located

_NO_ROWS = np.empty(0, dtype=np.int64)


def number_nodes(plan: Plan) -> None:
    """Read the ids of the node table; ids 0..n-1 are recognised and need no file."""
    columns = plan.node_columns()
    table, notes = columns.table, list[str]()
    kind = "numbers"
    with located(plan.nodes):
        cell, dtype = table.col(columns.node_id), table.schema[columns.node_id]
        count = 0
        if not table.text and dtype.is_integer():
            same = (cell.cast(pl.Int64, strict=False) == pl.int_range(pl.len())).fill_null(False).all()
            found = table.collect(table.frame.select(same=same, count=pl.len()))
            count = found["count"][0] if found["same"][0] else 0
        if not count:
            nodes = read_ids(table, columns.node_id)
            notes, count = nodes.notes, len(nodes.ids)
            kind = "text" if nodes.ids.dtype == pl.String else "integer"
            write_whole(plan.work("ids/table.parquet"), lambda file: _write(nodes.ids, file))
            if table.text:
                write_array(plan.work("ids/rows.npy"), nodes.rows)
    plan.write_note("ids/table.json", {"kind": kind, "count": count, "notes": notes})


def find_added(plan: Plan, source: int, start: int, length: int, out: str, as_text: bool) -> None:
    """Write the ids of edge ends that the node table does not hold; null if it is text among numbers."""
    edges = plan.edge_columns(plan.edges[source].open(start, length))
    check_filled(edges)
    query = positions(edges, table_nodes(plan, as_text=as_text), numbered=True)
    ends = [
        query.filter(pl.col(short).is_null()).select(pl.col(end).alias("id"))
        for end, short in (("source", "s"), ("target", "t"))
    ]
    ids = edges.table.collect(pl.concat(ends).unique())["id"]
    write_whole(out, lambda file: _write(ids, file))


def names_by_text(plan: Plan, parts: list[str]) -> bool:
    """Tell whether the edges name nodes by text where the node table names them by numbers."""
    if plan.read_note("ids/table.json")["kind"] == "text":
        return False
    return any(pl.read_parquet(part)["id"].null_count() for part in parts)


def finish_ids(plan: Plan, parts: list[str], as_text: bool) -> None:
    """Write all ids, with the added ones, and the note that says how many there are."""
    known = plan.read_note("ids/table.json")
    added = pl.Series("id", [], dtype=pl.Int64)
    if parts:
        added = pl.concat([pl.read_parquet(part)["id"] for part in parts]).unique().sort()
    if added.null_count():
        name = plan.edges[0].name
        raise TableError("an id that names a new node must be text or a whole number.", file=name)
    kind, notes = known["kind"], known["notes"]
    if as_text:
        kind = "text"
        notes = [*notes, "the edges name nodes by text, the node table by numbers; all ids were read as text"]
    if len(added) and kind == "numbers":
        is_next = added.to_frame().select(
            (pl.col("id") == pl.int_range(known["count"], known["count"] + pl.len())).all()
        )
        kind = "numbers" if is_next.item() else "integer"
    if kind != "numbers":
        ids = table_nodes(plan, as_text=as_text).ids if known["kind"] != "numbers" or as_text else None
        if ids is None:
            ids = pl.select(id=pl.int_range(known["count"], dtype=pl.Int64)).to_series()
        ids = pl.concat([ids.alias("id"), added.cast(ids.dtype)])
        write_whole(plan.place(IDS), lambda file: _write(ids, file))
    total = known["count"] + len(added)
    plan.write_note("ids/all.json", {"kind": kind, "count": total, "added": len(added), "notes": notes})


def table_nodes(plan: Plan, *, as_text: bool = False) -> Nodes:
    """Return the nodes of the node table."""
    known = plan.read_note("ids/table.json")
    return _nodes(known["kind"], known["count"], plan.work("ids/table.parquet"), as_text=as_text)


def all_nodes(plan: Plan) -> Nodes:
    """Return the nodes of the graph."""
    known = plan.read_note("ids/all.json")
    return _nodes(known["kind"], known["count"], plan.place(IDS))


def _nodes(kind: str, count: int, file: Path, *, as_text: bool = False) -> Nodes:
    if kind == "numbers" and not as_text:
        return Nodes(ids=pl.Series("id", [], dtype=pl.Int64), rows=_NO_ROWS, num_consecutive=count)
    if kind == "numbers":
        ids = pl.select(id=pl.int_range(count, dtype=pl.Int64)).to_series()
    else:
        ids = pl.read_parquet(file)["id"]
    return Nodes(ids=ids.cast(pl.String) if as_text else ids, rows=_NO_ROWS)


def _write(ids: pl.Series, file: Path) -> None:
    with disk_errors(file):
        ids.alias("id").to_frame().write_parquet(file, compression="lz4", row_group_size=2**18)
