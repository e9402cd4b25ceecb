"""New tables without the flagged items; the user's tables are never changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from gadc._base.pairs import undirected_keys
from gadc.lab._findings import Findings
from gadc.lab._source import Source
from gadc.lab._view import GraphView

_ROW = "\0row"
_UNREAD = "not read: an end is unknown or empty, or weight or time cannot be used"


class Cleaned(NamedTuple):
    """Cleaned tables, in the type that the user works with.

    Attributes:
        edges: The edge table without the flagged rows; `reason` says why a row was added, and is null
            otherwise. Rows that are later than `until` were not judged and are kept.
        nodes: The node table without the rows that a repair left out; `reason` says what was changed in a
            row, and is null otherwise.
        removed: The edge rows that were left out, with the reason.

    Examples:
        >>> import gadc
        >>> from gadc.datasets import csbm
        >>> cleaned = gadc.Lab(csbm(100, seed=0)).find_issues(kinds=["edge"]).clean()
        >>> cleaned.removed.columns
        ['source', 'target', 'reason']
    """

    edges: Any
    nodes: Any
    removed: Any


def cleaned_tables(
    source: Source,
    view: GraphView,
    findings: Mapping[str, Findings],
    *,
    edges: bool,
    labels: bool,
    missing_edges: bool,
) -> Cleaned:
    """Apply flagged issues to copies of the tables."""
    table, names = _edge_table(source, view)
    dropped = _reasons_by_key(findings["edge"], view) if edges else {}
    keys = undirected_keys((table["\0u"].to_numpy(), table["\0v"].to_numpy()), view.num_nodes)
    reason = pl.Series("reason", [dropped.get(key) for key in keys.tolist()], dtype=pl.String)
    reason = _with_unread(reason, table, source)
    free = _free("reason", table.columns)
    table = table.with_columns(reason.alias(free)).drop("\0u", "\0v", _ROW)
    removed = table.filter(pl.col(free).is_not_null())
    kept = table.filter(pl.col(free).is_null())
    if missing_edges:
        kept = pl.concat(
            [kept, _new_rows(findings["missing_edge"], view, kept, names, free)], how="diagonal_relaxed"
        )
    return Cleaned(
        source.give(kept),
        source.give(_node_table(source, view, findings, labels=labels)),
        source.give(removed),
    )


def edges_without(view: GraphView, findings: Findings) -> np.ndarray:
    """Return which of the edges of a view are not flagged, shape (m,)."""
    flagged = findings.issues
    n = view.num_nodes
    bad = undirected_keys((flagged["source"].to_numpy(), flagged["target"].to_numpy()), n)
    kept: np.ndarray = ~np.isin(undirected_keys(view.pairs, n), bad)
    return kept


def _edge_table(source: Source, view: GraphView) -> tuple[pl.DataFrame, tuple[str, str]]:
    """Return the edge table with the node numbers of both ends, and the names of its columns of ends."""
    report, rows = source.data.get("table_report"), source.data.get("table_rows")
    if source.edges is None or rows is None:
        u, v = view.pairs
        frame = pl.DataFrame({"source": view.ids.gather(u), "target": view.ids.gather(v), "\0u": u, "\0v": v})
        return frame.with_columns(pl.int_range(pl.len()).alias(_ROW)), ("source", "target")
    places = pl.DataFrame({"\0u": rows[0].numpy(), "\0v": rows[1].numpy(), _ROW: rows[2].numpy()})
    table = source.edges.join(places, on=_ROW, how="left", maintain_order="left")
    table = table.with_columns(pl.col("\0u", "\0v").fill_null(-1))  # not an edge of the graph
    return table, (report.columns["source"], report.columns["target"])


def _with_unread(reason: pl.Series, table: pl.DataFrame, source: Source) -> pl.Series:
    """Give a reason to the rows that are not edges of the graph, except for rows later than `until`."""
    unread = table["\0u"] < 0
    later = source.data.get("later_rows")
    if later is not None:
        unread &= ~table[_ROW].is_in(later.tolist())
    return pl.select(pl.when(unread).then(pl.lit(_UNREAD)).otherwise(reason)).to_series().alias("reason")


def _reasons_by_key(findings: Findings, view: GraphView) -> dict[int, str]:
    flagged = findings.issues
    keys = undirected_keys((flagged["source"].to_numpy(), flagged["target"].to_numpy()), view.num_nodes)
    return dict(zip(keys.tolist(), flagged["reasons"].fill_null("flagged").to_list(), strict=True))


def _new_rows(
    findings: Findings, view: GraphView, table: pl.DataFrame, names: tuple[str, str], free: str
) -> pl.DataFrame:
    """Make rows for the edges that look missing."""
    flagged = findings.issues
    columns = {}
    for name, end in zip(names, ("source", "target"), strict=True):
        columns[name] = view.ids.gather(flagged[end]).cast(table.schema[name])
    return pl.DataFrame(columns).with_columns(flagged["reasons"].alias(free))


def _node_table(
    source: Source, view: GraphView, findings: Mapping[str, Findings], *, labels: bool
) -> pl.DataFrame:
    table = source.nodes
    if table is None:
        table = pl.DataFrame({"id": view.ids})
        if len(view.labelled):
            names = pl.Series(view.class_names)
            table = table.with_columns(label=names.gather(pl.Series(view.y).set(pl.Series(view.y < 0), None)))
    else:
        table = table.drop(_ROW)
    free = _free("reason", table.columns)
    reason = np.full(len(table), None, dtype=object)
    report: Any = source.data.get("table_report")
    column = "label" if report is None else report.columns.get("label")
    if labels and column is not None:
        flagged = findings["label"].issues
        nodes = flagged["node"].to_numpy()
        new = flagged["suggested"].cast(table.schema[column], strict=False)
        for node, given, why in zip(nodes, flagged["label"], flagged["reasons"], strict=True):
            reason[node] = f"label was {given!r}: {why}"
        table = table.with_columns(table[column].scatter(nodes, new).alias(column))
    return table.with_columns(pl.Series(free, reason.tolist(), dtype=pl.String))


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name
