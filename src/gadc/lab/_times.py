"""Times of edges beside the times at which labels were decided, for the kind `leak`.

An edge counts as later at one of its ends if its time is after the time of the label of that end. Without a
column of label times, `until` is the time of every label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from torch_geometric.data import Data

from gadc.datasets import from_tables
from gadc.datasets.tables._ids import Nodes
from gadc.datasets.tables._problems import REPAIRS
from gadc.datasets.tables._table import Table
from gadc.datasets.tables._times import Clock, TimeWindow, find_clock

_WHOLE_DAY = 1 - 1e-6 / 86400  # a date without a time of the day stands for the end of its day


@dataclass(frozen=True, eq=False, kw_only=True)
class EdgeTimes:
    """Times of edges and of labels, in days or in the unit of the user's numbers.

    Args:
        ends: Node numbers of both ends of each row of the edge table, shape (2, rows).
        at: Time of each row, shape (rows,).
        limits: Time of the label of each node, NaN if unknown, shape (n,).
        until: The earliest of these times as the user writes it.
        is_read: Whether the graph has the later edges; otherwise `until` has left them out.
    """

    ends: NDArray[np.int64]
    at: NDArray[np.float64]
    limits: NDArray[np.float64]
    until: str
    is_read: bool


def read_times(
    data: Data, edges: Table, nodes: Table, rows: Nodes, options: dict[str, Any], label_time: str | None
) -> tuple[EdgeTimes | None, NDArray[np.int64]]:
    """Read the times of edges and labels.

    Args:
        data: The graph, with the rows of its edge table.
        edges: The edge table.
        nodes: The node table.
        rows: Which rows of the node table are nodes.
        options: Options of `from_tables`.
        label_time: Node column with the time of each label; None by default.

    Returns:
        The times, None if labels have none; and the rows of the edge table that are later than `until`.
    """
    time, until = options.get("time"), options.get("until")
    none = np.zeros(0, dtype=np.int64)
    if time is None:
        if label_time is not None:
            raise ValueError("Lab: time must name a column if label_time is given, got None.")
        return None, none
    clock = find_clock(edges, time)
    moments = edges.collect(edges.numbered(t=clock.cell))
    later, last = none, np.nan
    if until is not None:
        last = clock.read_until(TimeWindow.of("Lab", until, None).until or 0)
        later = moments.filter(pl.col("t") > last)["row"].to_numpy()
    if label_time is None and until is None:
        return None, later
    places = data.table_rows if label_time is not None else _all_rows(edges, nodes, options)
    u, v, row = places.numpy()
    at = pl.DataFrame({"row": row}).join(moments, on="row", how="left", maintain_order="left")["t"]
    if label_time is None:
        limits, shown = np.full(data.num_nodes, last), str(until)
    else:
        limits = _label_times(nodes, rows, label_time, clock, int(data.num_nodes))
        known = limits[np.isfinite(limits)]
        shown = clock.show(float(known.min())) if len(known) else ""
    return EdgeTimes(
        ends=np.stack([u, v]),
        at=at.to_numpy().astype(np.float64),
        limits=limits,
        until=shown,
        is_read=label_time is not None,
    ), later


def _all_rows(edges: Table, nodes: Table, options: dict[str, Any]) -> Any:
    """Return the rows of the edge table between known nodes, whatever their time."""
    named: dict[str, Any] = {name: options.get(name) for name in ("source", "target", "time", "node_id")}
    whole = from_tables(
        edges, nodes, **named, features=[], unknown="drop", repair=tuple(REPAIRS), keep_rows=True
    )
    return whole.table_rows


def _label_times(nodes: Table, rows: Nodes, column: str, clock: Clock, num_nodes: int) -> NDArray[np.float64]:
    """Read the time of each label; NaN where there is none."""
    own = find_clock(nodes, column)
    if own.is_date != clock.is_date:
        kinds = {True: "dates", False: "numbers"}
        raise ValueError(
            f"Lab: label_time must hold {kinds[clock.is_date]} as {clock.column!r} does, got "
            f"{kinds[own.is_date]} in {column!r}."
        )
    found = nodes.collect(nodes.numbered(t=own.cell))
    cells = pl.DataFrame({"row": rows.rows}).join(found, on="row", how="left", maintain_order="left")["t"]
    times = cells.to_numpy().astype(np.float64)
    if own.is_date and not np.nanmax(np.abs(times % 1), initial=0.0):
        times = times + _WHOLE_DAY
    limits = np.full(num_nodes, np.nan)
    limits[: len(times)] = times
    return limits
