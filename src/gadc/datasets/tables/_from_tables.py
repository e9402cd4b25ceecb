"""Your own graph: a table of edges and a table of nodes become a PyTorch Geometric `Data`.

Nothing is dropped silently: `data.table_report` counts everything that was found, and a table that cannot be
read raises a `TableError` that names file, row and column. Edge tables are streamed, and only the columns
that are needed are read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import torch
from torch_geometric.data import Data

from gadc._base.validation import check_choice
from gadc.datasets._border import check_graph
from gadc.datasets.tables._columns import EdgeColumns, NodeColumns, choose_edge_columns, choose_node_columns
from gadc.datasets.tables._dialect import CsvOptions
from gadc.datasets.tables._edges import Edges, clean_edges
from gadc.datasets.tables._features import FeatureReader
from gadc.datasets.tables._files import TableLike, open_table
from gadc.datasets.tables._ids import Nodes, read_ids
from gadc.datasets.tables._labels import read_labels
from gadc.datasets.tables._matching import Matched, match
from gadc.datasets.tables._preparation import FeaturePreparation
from gadc.datasets.tables._problems import REPAIRS, Problems, check_repair
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
    categorical: str = "skip",
    missing: str = "error",
    unknown: str = "error",
    directed: bool = False,
    preparation: FeaturePreparation | None = None,
    keep_rows: bool = False,
    csv_options: CsvOptions | None = None,
    repair: str | Collection[str] = (),
    lenient: bool = False,
) -> Data:
    """Read a graph from a table with one row per edge and a table with one row per node.

    Args:
        edges: Path (.csv, .tsv, .csv.gz, .tsv.gz, .parquet, .feather) or data frame of the edges.
        nodes: Path or data frame of the nodes.
        source: Column of one end; by default `source`, `src`, `from` or the first column.
        target: Column of the other end; by default `target`, `dst`, `to` or the second column.
        weight: Column of edge weights >= 0; no weights by default. The weights of repeated rows are added,
            the weights of the two directions are averaged.
        node_id: Column of the node ids; by default `id`, `node_id`, `node` or the first column.
        label: Column of the classes, with an empty cell for an unlabelled node; by default `label`, `class`
            or `y`, if there is one.
        features: Feature columns; by default all columns other than id and label that can be features.
        categorical: What to do with text columns: "skip" (default) leaves them out and says so in the report,
            "onehot" encodes them. A text column that is named in `features` is an error under "skip".
        missing: What to do with an empty feature cell: "error" (default), "mean" of the column, or "zero".
        unknown: What to do with an edge to a node that is not in `nodes`: "error" (default), "drop" the edge,
            or "add" the node.
        directed: Keep the edges as listed instead of in both directions; False by default.
        preparation: The `feature_preparation` of another graph or of a fitted model, to compute the features
            as they were computed there: the same columns, categories, fill values and scales. A column that
            is missing is an error, other columns are ignored, and `features`, `categorical` and `missing` are
            not needed. None by default.
        keep_rows: Remember in `data.table_rows` which row of the edge table lists which edge in which
            direction, for `gadc.suspicious_edges`; False by default, since it takes memory.
        csv_options: How text files are written (separator, encoding, decimal mark); by default this is found
            from the beginning of each file, and the report says what was found.
        repair: Problems to repair instead of refusing the tables; nothing by default. "duplicate-ids" keeps
            the first row of each id, "empty-ids" leaves out rows without an id, "non-numbers" treats cells of
            numeric columns that are not numbers as empty, "bad-weights" leaves out edges without a usable
            weight. The report says what was repaired.
        lenient: Repair all of these, and where it is not chosen, drop edges with unknown ends and fill empty
            cells with the mean; False by default.

    Returns:
        Data with `edge_index`, `node_ids`, `feature_names`, `table_report` (a `TableReport`) and
        `feature_preparation` (a `FeaturePreparation`, to read another table in the same way); with `x`
        (float32) if there are features, `edge_weight` if weighted, `table_rows` (both ends and the number of
        each row of `edges`, shape (3, rows)) if rows are kept, and `y` (-1 = unlabelled) and
        `class_names` if there are labels: `class_names[y[i]]` is the label of node i in the table.

    Raises:
        TableError: A table cannot be read.

    Examples:
        >>> import polars as pl
        >>> from gadc.datasets import from_tables
        >>> edges = pl.DataFrame({"source": ["ann", "bob"], "target": ["bob", "eve"]})
        >>> nodes = pl.DataFrame(
        ...     {"id": ["ann", "bob", "eve"], "age": [31, 27, 45], "label": ["x", None, "y"]}
        ... )
        >>> data = from_tables(edges, nodes)
        >>> data.edge_index
        tensor([[0, 1, 1, 2],
                [1, 0, 2, 1]])
        >>> data.y.tolist(), data.class_names, data.feature_names
        ([0, -1, 1], ['x', 'y'], ['age'])
    """
    check_choice("from_tables", categorical, "categorical", ("skip", "onehot"))
    check_choice("from_tables", missing, "missing", ("error", "mean", "zero"))
    check_choice("from_tables", unknown, "unknown", ("error", "drop", "add"))
    if isinstance(features, str):
        raise TypeError(f"from_tables: features must be a list of column names, got the string {features!r}.")
    kinds = check_repair("from_tables", REPAIRS if lenient else repair)
    if lenient:
        unknown = "drop" if unknown == "error" else unknown
        missing = "mean" if missing == "error" and preparation is None else missing
    if preparation is not None:
        given = {"categorical": categorical if categorical != "skip" else None, "features": features}
        given["missing"] = missing if missing != "error" else None
        preparation.check_agrees("from_tables", **given)
        features = [column.name for column in preparation.columns]
        categorical, missing = preparation.categorical, preparation.missing
    problems = Problems(repair=kinds, at_once=False)
    ends, columns, notes = _choose_columns(
        problems,
        (edges, {"source": source, "target": target, "weight": weight}),
        (nodes, {"node_id": node_id, "label": label, "features": features}),
        csv_options,
    )
    ids = read_ids(columns.table, columns.node_id, problems)
    columns = replace(columns, table=columns.table.without(ids.left_out))
    graph, matched, rows = _read_edges(
        ends, ids, problems, unknown=unknown, directed=directed, keep_rows=keep_rows
    )
    known = matched.nodes
    reader = FeatureReader(
        table=columns.table,
        rows=known.rows,
        added=len(known.ids) - len(known.rows),
        named=features is not None,
        categorical=categorical,
        missing=missing,
        known=preparation,
        problems=problems,
    )
    x = np.empty((len(known.ids), 0), dtype=np.float32)
    with problems.collecting():
        x = reader.read(columns.features)
    data = Data(edge_index=graph.edge_index, edge_weight=graph.edge_weight, num_nodes=len(known.ids))
    if rows is not None:
        data.table_rows = rows
    if x.shape[1]:
        data.x = torch.from_numpy(x)
    data.node_ids, data.feature_names = known.ids.to_list(), reader.names
    data.feature_preparation = reader.preparation
    if columns.label is not None:
        with problems.collecting():
            y, data.class_names, label_notes = read_labels(columns.table, known.rows, columns.label)
            data.y = torch.from_numpy(np.concatenate([y, np.full(reader.added, -1)]))
            notes += label_notes
    problems.check()
    notes += known.notes + reader.notes + problems.notes
    data.table_report = _report(data, ends, columns, graph, reader, matched=matched, notes=notes)
    data = check_graph("from_tables", data)
    return data if preparation is None or data.x is None else preparation.apply(data)


def _choose_columns(
    problems: Problems,
    edges: tuple[TableLike, dict[str, Any]],
    nodes: tuple[TableLike, dict[str, Any]],
    csv_options: CsvOptions | None,
) -> tuple[EdgeColumns, NodeColumns, list[str]]:
    """Open both tables and choose their columns; what is wrong with either is said at once."""
    notes: list[str] = []
    chosen: dict[str, Any] = {}
    for role, (table, named), choose in (
        ("edges", edges, choose_edge_columns),
        ("nodes", nodes, choose_node_columns),
    ):
        with problems.collecting():
            opened = open_table(table, role, csv_options)
            notes += opened.notes
            chosen[role] = choose(opened, **named, notes=notes)
    problems.check()
    return chosen["edges"], chosen["nodes"], notes


def _read_edges(
    ends: EdgeColumns, ids: Nodes, problems: Problems, *, unknown: str, directed: bool, keep_rows: bool
) -> tuple[Edges, Matched, torch.Tensor | None]:
    """Read edges and perhaps rows; the table of positions, often large, is freed on return."""
    matched = match(ends, ids, unknown, numbered=keep_rows, problems=problems)
    frame = matched.frame
    weight = frame["w"].to_numpy() if ends.weight is not None else None
    num_nodes = len(matched.nodes.ids)
    graph = clean_edges(frame["s"].to_numpy(), frame["t"].to_numpy(), weight, num_nodes, directed=directed)
    rows = frame.select("s", "t", "row").cast(pl.Int64).sort("row").to_torch().T if keep_rows else None
    return graph, replace(matched, frame=frame.clear()), rows


def read_other_columns(
    edges: TableLike, known: Collection[str], csv_options: CsvOptions | None = None
) -> tuple[list[str], pl.DataFrame]:
    """Read the columns of an edge table that `known` does not name.

    Returns:
        Their names, and a table with the user's row numbers in the column "row" and these columns as
        "0", "1", ..., because a column of the user may be called "row".
    """
    table = open_table(edges, "edges", csv_options)
    names = [name for name in table.schema if name not in known]
    columns = {str(i): table.col(name) for i, name in enumerate(names)}
    return names, table.collect(table.numbered(**columns))


def _report(
    data: Data,
    ends: EdgeColumns,
    columns: NodeColumns,
    graph: Edges,
    reader: FeatureReader,
    *,
    matched: Matched,
    notes: list[str],
) -> TableReport:
    roles = {
        "source": ends.source,
        "target": ends.target,
        "weight": ends.weight,
        "node id": columns.node_id,
        "label": columns.label,
    }
    if graph.both_ways and ends.weight is not None:
        notes.append(
            f"{graph.both_ways:,} edges are listed in both directions; their weight is the mean of the two"
        )
    x = data.x
    constant = torch.nonzero(x.amin(0) == x.amax(0)).flatten().tolist() if x is not None else []
    return TableReport(
        edges_file=ends.table.name,
        nodes_file=columns.table.name,
        columns={role: name for role, name in roles.items() if name is not None},
        rows=graph.rows + matched.unknown + matched.unusable,
        self_loops=graph.self_loops,
        unknown=matched.unknown,
        unusable=matched.unusable,
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
