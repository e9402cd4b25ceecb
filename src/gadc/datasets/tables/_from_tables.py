"""Your own graph: a table of edges and a table of nodes become a PyTorch Geometric `Data`.

Nothing is dropped in silence: `data.table_report` counts everything that was found, and a table that cannot
be taken as it is raises a `TableError` that names file, row and column. Edge tables are streamed; only the
columns needed are read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch_geometric.data import Data

from gadc._base.validation import check_choice
from gadc.datasets.tables._edges import Edges, clean_edges
from gadc.datasets.tables._features import FeatureReader, read_labels
from gadc.datasets.tables._files import Table, TableLike, open_table
from gadc.datasets.tables._ids import EdgeColumns, Nodes, match, read_ids
from gadc.datasets.tables._report import TableError, TableReport

__all__ = ["TableError", "TableReport", "from_tables"]

_ENDS = (("source", "target"), ("src", "dst"), ("from", "to"))
_IDS = ("id", "node_id", "node")
_LABELS = ("label", "class", "y")


def from_tables(
    edges: TableLike,
    nodes: TableLike,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    node_id: str | None = None,
    label: str | None = None,
    features: Sequence[str] | None = None,
    categorical: str = "error",
    missing: str = "error",
    unknown: str = "error",
    directed: bool = False,
) -> Data:
    """Read a graph from two tables.

    Args:
        edges: Path (.csv, .tsv, these with .gz, .parquet, .feather) or data frame with a row an edge.
        nodes: The same with a row a node.
        source: Column with the one end; without it `source`, `src`, `from`, or the first column.
        target: Column with the other end; without it `target`, `dst`, `to`, or the second column.
        weight: Column with edge weights >= 0; None for none. Repeated rows add up, directions are averaged.
        node_id: Column with the ids; without it `id`, `node_id`, `node`, or the first column.
        label: Column with the classes; an empty cell is unlabelled. Without it `label`, `class`, `y`.
        features: Feature columns; None for all numeric ones other than id and label.
        categorical: "error" leaves text columns out (or refuses them if named), "onehot" encodes them.
        missing: Empty feature cells: "error", "mean" of the column, or "zero".
        unknown: Edges to a node that `nodes` lacks: "error", "drop" the edge, or "add" the node.
        directed: Keep the edges as listed instead of in both directions.

    Returns:
        Data with `x` (float32, if there are features), `edge_index`, `edge_weight` (if weighted), `y` (-1 =
        unlabelled; if there are labels), `node_ids`, `feature_names`, `class_names` (`class_names[y[i]]` is
        the label as the table has it) and `table_report`, a `TableReport`.

    Raises:
        TableError: A table cannot be taken as it is.
    """
    check_choice("from_tables", categorical, "categorical", ("error", "onehot"))
    check_choice("from_tables", missing, "missing", ("error", "mean", "zero"))
    check_choice("from_tables", unknown, "unknown", ("error", "drop", "add"))
    if isinstance(features, str):
        raise TypeError(f"from_tables: features must be a list of column names, got the string {features!r}.")
    columns = _choose_columns(
        open_table(edges, "edges"),
        open_table(nodes, "nodes"),
        source=source,
        target=target,
        weight=weight,
        node_id=node_id,
        label=label,
        features=features,
    )
    frame, known, dropped = match(columns.edges, read_ids(columns.nodes, columns.node_id), unknown)
    rows = len(frame) + dropped
    graph = clean_edges(
        frame["s"].to_numpy(),
        frame["t"].to_numpy(),
        frame["w"].to_numpy() if weight is not None else None,
        len(known.ids),
        directed=directed,
    )
    del frame  # hundreds of megabytes for a large graph
    reader = FeatureReader(
        table=columns.nodes,
        rows=known.rows,
        added=len(known.ids) - len(known.rows),
        named=features is not None,
        categorical=categorical,
        missing=missing,
    )
    x = reader.read(columns.features)
    data = Data(edge_index=graph.edge_index, edge_weight=graph.edge_weight, num_nodes=len(known.ids))
    if x.shape[1]:
        data.x = torch.from_numpy(x)
    data.node_ids, data.feature_names = known.ids.to_list(), reader.names
    if columns.label is not None:
        _add_labels(data, columns, known, reader.added)
    data.table_report = _report(data, columns, graph, reader, rows=rows, unknown=dropped, notes=known.notes)
    return data


@dataclass(frozen=True, kw_only=True)
class _Columns:
    """What is read from where; `notes` grows as decisions are taken."""

    edges: EdgeColumns
    nodes: Table
    node_id: str
    label: str | None
    features: list[str]
    notes: list[str]


def _choose_columns(
    edges: Table,
    nodes: Table,
    *,
    source: str | None,
    target: str | None,
    weight: str | None,
    node_id: str | None,
    label: str | None,
    features: Sequence[str] | None,
) -> _Columns:
    """Settle which columns play which part; what the user did not say is noted."""
    notes: list[str] = []
    if source is None and target is None:
        source, target = _guess_ends(edges, weight)
        notes.append(f"source and target were not named: took {source!r} and {target!r} of {edges.name}")
    if source is None or target is None:
        raise ValueError(f"from_tables: name both of source and target or none, got {source!r}, {target!r}.")
    if len({source, target, weight}) < 3:
        raise TableError("source, target and weight must differ.", file=edges.name, column=source)
    idle = [repr(name) for name in edges.schema if name not in (source, target, weight)]
    notes += [f"not used from {edges.name}: {', '.join(idle)}"] if idle else []
    if node_id is None:
        node_id = _guess(nodes, _IDS) or next(iter(nodes.schema), "id")
        notes.append(f"node_id was not named: took {node_id!r} of {nodes.name}")
    if label is None:
        label = _guess(nodes, _LABELS, skip={node_id, *(features or ())})
        notes += [f"label was not named: took {label!r} of {nodes.name}"] if label is not None else []
    if len({node_id, label, *(features or ())}) < 2 + len(features or ()):
        raise TableError("node_id, label and features must differ.", file=nodes.name, column=node_id)
    edges.require(source, target, weight)
    nodes.require(node_id, label, *(features or ()))
    if features is None:
        features = [name for name in nodes.schema if name not in (node_id, label)]
    ends = EdgeColumns(table=edges, source=source, target=target, weight=weight)
    return _Columns(
        edges=ends, nodes=nodes, node_id=node_id, label=label, features=list(features), notes=notes
    )


def _guess(table: Table, names: Sequence[str], skip: Collection[str | None] = ()) -> str | None:
    """The first column that has one of the names, in any case of letters."""
    lower = {name.lower(): name for name in reversed(table.schema) if name not in skip}
    return next((lower[name] for name in names if name in lower), None)


def _guess_ends(table: Table, weight: str | None) -> tuple[str, str]:
    for pair in _ENDS:
        source, target = (_guess(table, [name]) for name in pair)
        if source is not None and target is not None:
            return source, target
    first = [name for name in table.schema if name != weight][:2]
    if len(first) < 2:
        raise TableError(f"an edge table needs two columns, got {list(table.schema)}.", file=table.name)
    return first[0], first[1]


def _add_labels(data: Data, columns: _Columns, known: Nodes, added: int) -> None:
    y, names, notes = read_labels(columns.nodes, known.rows, columns.label or "")
    data.y = torch.from_numpy(np.concatenate([y, np.full(added, -1)]))
    data.class_names = names
    columns.notes.extend(notes)


def _report(
    data: Data,
    columns: _Columns,
    graph: Edges,
    reader: FeatureReader,
    *,
    rows: int,
    unknown: int,
    notes: list[str],
) -> TableReport:
    edges, x = columns.edges, data.x
    roles = {
        "source": edges.source,
        "target": edges.target,
        "weight": edges.weight,
        "node id": columns.node_id,
        "label": columns.label,
    }
    notes = [*columns.notes, *notes]
    if graph.both_ways and edges.weight is not None:
        notes.append(f"{graph.both_ways:,} edges are listed both ways: their weight is the mean of the two")
    constant = torch.nonzero(x.amin(0) == x.amax(0)).flatten().tolist() if x is not None else []
    return TableReport(
        edges_file=edges.table.name,
        nodes_file=columns.nodes.name,
        columns={role: name for role, name in roles.items() if name is not None},
        rows=rows,
        self_loops=graph.self_loops,
        unknown=unknown,
        duplicates=graph.duplicates,
        edges=graph.count,
        directed=graph.directed,
        nodes=data.num_nodes,
        added=reader.added,
        isolated=graph.isolated,
        labelled=int((data.y >= 0).sum()) if columns.label is not None else 0,
        features=reader.names,
        constant=[reader.names[i] for i in constant],
        imputed=reader.imputed,
        left_out=reader.left_out,
        notes=notes,
    )
