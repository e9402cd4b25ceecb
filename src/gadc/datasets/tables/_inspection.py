"""Find the two tables of a graph in a folder, and what their columns are, from the values in them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from gadc.datasets.tables._columns import guess_label, guess_weight
from gadc.datasets.tables._dialect import TEXT, file_suffix
from gadc.datasets.tables._files import BINARY, JSON_LINES, open_table
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table

_ROWS = 100_000  # rows of a table that are compared
_SHARE = 0.5  # of the values of an end that must be ids of nodes
_DISTINCT = 0.95  # share of the cells of an id that are filled and differ; the rest are mistakes


@dataclass(frozen=True, kw_only=True)
class Found:
    """Two tables of a graph and the roles of their columns; see `from_tables`."""

    edges: Path
    nodes: Path
    source: str
    target: str
    node_id: str
    weight: str | None
    label: str | None


def find_tables(folder: Path, edges: Path | None = None, nodes: Path | None = None) -> Found:
    """Find the edge table and the node table in a folder, and their columns.

    A column of ids has hardly a value twice and few empty cells. The columns of the two ends hold values that
    are mostly ids.

    Args:
        folder: The folder.
        edges: The edge table, if it is known. Default: found.
        nodes: The node table, if it is known. Default: found.

    Raises:
        TableError: No two tables belong together.
    """
    known = [*TEXT, *BINARY, *JSON_LINES]
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and file_suffix(path) in known]
    tables = {path: _values(path) for path in dict.fromkeys((edges, nodes, *files)) if path is not None}
    best: tuple[float, Found] | None = None
    for edge_path in [edges] if edges else list(tables):
        for node_path in [nodes] if nodes else list(tables):
            if edge_path != node_path:
                match = _match(edge_path, tables[edge_path], node_path, tables[node_path])
                if match is not None and (best is None or match[0] > best[0]):
                    best = match
    if best is None:
        names = ", ".join(path.name for path in tables) or "none"
        raise TableError(
            f"no two tables belong together as edges and nodes; the tables are {names}. Name them with "
            "--edges and --nodes.",
            file=str(folder),
        )
    return best[1]


def _values(path: Path) -> tuple[Table, dict[str, pl.Series]]:
    """Read the first rows of a table as text."""
    table = open_table(path, str(path))
    columns = {str(i): table.col(name).cast(pl.String, strict=False) for i, name in enumerate(table.schema)}
    frame = table.collect(table.select(**columns).head(_ROWS))
    return table, dict(zip(table.schema, frame, strict=True))


def _match(
    edges: Path,
    edge_values: tuple[Table, dict[str, pl.Series]],
    nodes: Path,
    node_values: tuple[Table, dict[str, pl.Series]],
) -> tuple[float, Found] | None:
    """Tell how well two tables belong together."""
    best: tuple[float, Found] | None = None
    for node_id, ids in node_values[1].items():
        distinct = ids.drop_nulls().n_unique() / max(len(ids), 1)
        if distinct < _DISTINCT:
            continue
        shares = {
            name: float(cells.is_in(ids.implode()).mean() or 0.0)  # type: ignore[arg-type]
            for name, cells in edge_values[1].items()
            if len(cells)
        }
        ends = sorted((name for name in shares if shares[name] > _SHARE), key=lambda name: -shares[name])[:2]
        if len(ends) < 2:
            continue
        source, target = sorted(ends, key=list(shares).index)
        score = distinct * (shares[source] + shares[target])
        if best is None or score > best[0]:
            found = Found(
                edges=edges,
                nodes=nodes,
                source=source,
                target=target,
                node_id=node_id,
                weight=guess_weight(edge_values[0], skip={source, target}),
                label=guess_label(node_values[0], skip={node_id}),
            )
            best = score, found
    return best
