"""Your own graph: a table of edges and a table of nodes become a PyTorch Geometric `Data`.

Nothing is dropped in silence: `data.table_report` counts everything that was found, and a table that cannot
be taken as it is raises a `TableError` that names file, row and column. Edge tables are streamed; only the
columns needed are read.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch_geometric.data import Data

from gadc._base.validation import check_choice
from gadc.datasets.tables._columns import Columns, choose_columns
from gadc.datasets.tables._edges import Edges, clean_edges
from gadc.datasets.tables._features import FeatureReader
from gadc.datasets.tables._files import TableLike, open_table
from gadc.datasets.tables._ids import Nodes, match, read_ids
from gadc.datasets.tables._labels import read_labels
from gadc.datasets.tables._report import TableReport


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
    columns = choose_columns(
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


def _add_labels(data: Data, columns: Columns, known: Nodes, added: int) -> None:
    y, names, notes = read_labels(columns.nodes, known.rows, columns.label or "")
    data.y = torch.from_numpy(np.concatenate([y, np.full(added, -1)]))
    data.class_names = names
    columns.notes.extend(notes)


def _report(
    data: Data,
    columns: Columns,
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
