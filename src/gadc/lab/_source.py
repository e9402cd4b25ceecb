"""Whatever a user has, as a graph, and the tables it came from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from scipy import sparse
from torch_geometric.data import Data

from gadc.datasets import from_tables, read_graph
from gadc.datasets._border import check_graph, check_unsigned
from gadc.datasets.files._attribute_tables import attribute_table
from gadc.datasets.files._read_graph import SUFFIXES as GRAPH_SUFFIXES
from gadc.datasets.tables._columns import choose_edge_columns
from gadc.datasets.tables._files import open_table
from gadc.datasets.tables._ids import read_ids
from gadc.datasets.tables._problems import REPAIRS, Problems
from gadc.datasets.tables._table import Table
from gadc.lab._prepared import to_dense
from gadc.lab._times import read_times

_TABLES_ONLY = ("time", "until", "half_life", "label_time", "repair", "lenient")


@dataclass(frozen=True, eq=False, kw_only=True)
class Source:
    """A graph and the tables it was read from.

    Attributes:
        data: The graph.
        edges: The user's edge table as a Polars frame with its rows in order; None if there was no table.
        nodes: The user's node table likewise.
        frames: "pandas" if the user works with pandas, else "polars".
    """

    data: Data
    edges: pl.DataFrame | None = None
    nodes: pl.DataFrame | None = None
    frames: str = "polars"

    def give(self, frame: pl.DataFrame) -> Any:
        """Return a table in the type that the user works with."""
        if self.frames == "polars":
            return frame
        return frame.to_pandas()


def read_source(edges: Any, nodes: Any, label: Any, options: dict[str, Any]) -> Source:
    """Read a graph as `_read` does, and refuse negative weights."""
    source = _read(edges, nodes, label, options)
    check_unsigned("Lab", source.data)
    return source


def _read(edges: Any, nodes: Any, label: Any, options: dict[str, Any]) -> Source:
    """Read a graph from tables, a file, a `Data`, a SciPy matrix or a NetworkX graph.

    Args:
        edges: See `Lab`.
        nodes: See `Lab`.
        label: Column of the classes, or one class per node beside a SciPy matrix.
        options: Options of `from_tables`, and `label_time`.
    """
    if isinstance(edges, Data):
        _refuse("a PyTorch Geometric Data", nodes=nodes, label=label, **_of_tables(options))
        return Source(data=check_graph("Lab", edges, needs=("edge_index",), keep_sparse=True))
    if sparse.issparse(edges):
        _refuse("a SciPy matrix", **_of_tables(options))
        return Source(data=_from_matrix(edges, nodes, label))
    if type(edges).__module__.partition(".")[0] == "networkx":
        _refuse("a NetworkX graph", nodes=nodes)
        return _from_networkx(edges, label, options)
    if isinstance(edges, str | os.PathLike) and Path(edges).suffix.lower() in GRAPH_SUFFIXES:
        _refuse("a graph file", nodes=nodes, **_of_tables(options))
        kept = {
            key: value
            for key, value in options.items()
            if key in ("weight", "features", "categorical", "missing")
        }
        return Source(data=read_graph(edges, label=label, keep_rows=True, **kept))
    if label is not None and not isinstance(label, str):
        raise TypeError(f"Lab: label must be the name of a column, got {type(label).__name__}.")
    pandas = any(type(one).__module__.partition(".")[0] == "pandas" for one in (edges, nodes))
    return _from_tables(edges, nodes, label, options, "pandas" if pandas else "polars")


def _of_tables(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that only tables have, None where one is not given."""
    return {name: options.get(name) or None for name in _TABLES_ONLY}


def _refuse(what: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"Lab: {name} must not be given beside {what}, got {type(value).__name__}.")


def _from_tables(edges: Any, nodes: Any, label: str | None, options: dict[str, Any], frames: str) -> Source:
    edge_table = _opened(edges, "edges")
    if nodes is None:
        nodes = _nodes_of(edge_table, options)
        if label is not None:
            raise ValueError(f"Lab: label must not be given without nodes, got {label!r}.")
        _refuse("an edge table without nodes", label_time=options.get("label_time"))
        options = {**options, "node_id": "id"}
        if nodes.is_empty():
            raise ValueError(f"Lab: edges must name at least one node, got no rows in {edge_table.name}.")
        node_table = _opened(nodes, "nodes")
    else:
        node_table = _opened(nodes, "nodes")
    read, label_time = dict(options), options.get("label_time")
    read.pop("label_time", None)
    if label_time is not None:  # what was written down with the label is not a feature
        read["exclude"] = [*read.get("exclude", ()), label_time]
    data = from_tables(edge_table, node_table, label=label, keep_rows=True, **read)
    report = data.table_report
    found = read_ids(node_table, report.columns["node id"], Problems(repair=REPAIRS))
    named = {**read, **{name: report.columns[name] for name in ("source", "target")}}
    times, later = read_times(data, edge_table, node_table, found, named, label_time)
    data.later_rows = torch.from_numpy(later.copy())
    if times is not None:
        data.edge_times = times
    rows = _rows(node_table).filter(~pl.col("\0row").is_in(found.left_out))
    return Source(data=data, edges=_rows(edge_table), nodes=rows, frames=frames)


def _opened(table: Any, role: str) -> Table:
    """Open a table; anything that exports an Arrow stream is one."""
    known = isinstance(table, str | os.PathLike | pl.DataFrame | pl.LazyFrame | Table)
    pandas = type(table).__module__.partition(".")[0] == "pandas"
    if not known and not pandas:
        if not hasattr(table, "__arrow_c_stream__"):
            raise TypeError(
                f"Lab: {role} must be a path, a data frame, an Arrow table, a Data, a SciPy matrix or a "
                f"NetworkX graph, got {type(table).__name__}."
            )
        table = pl.DataFrame(table)
    return open_table(table, role)


def _rows(table: Table) -> pl.DataFrame:
    """Read a whole table with the user's row numbers in the last column, called NUL + "row"."""
    frame = table.collect(table.numbered(**{f"{i}": table.col(name) for i, name in enumerate(table.schema)}))
    named = {f"{i}": name for i, name in enumerate(table.schema)}
    return frame.select(*named, pl.col("row")).rename({**named, "row": "\0row"})


def _nodes_of(table: Table, options: dict[str, Any]) -> pl.DataFrame:
    """List the nodes that the edges name."""
    columns = choose_edge_columns(
        table,
        source=options.get("source"),
        target=options.get("target"),
        weight=options.get("weight"),
        notes=[],
    )
    ends = table.collect(table.select(a=table.col(columns.source), b=table.col(columns.target)))
    ids = pl.concat([ends["a"], ends["b"].cast(ends["a"].dtype).alias("a")]).drop_nulls().unique().sort()
    return pl.DataFrame({"id": ids})


def _from_matrix(matrix: Any, x: Any, y: Any) -> Data:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"Lab: the matrix must be square, got shape {matrix.shape}.")
    coo = sparse.coo_array(matrix)
    data = Data(
        edge_index=torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64)), num_nodes=matrix.shape[0]
    )
    if x is not None:
        values = to_dense(x)
        data.x = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))
    if y is not None:
        names, codes = np.unique(np.asarray(y), return_inverse=True)
        data.y = torch.from_numpy(codes.astype(np.int64))
        data.class_names = names.tolist()
    return check_graph("Lab", data)


def _from_networkx(graph: Any, label: str | None, options: dict[str, Any]) -> Source:
    """Read nodes, edges and attributes of a NetworkX graph."""
    ends = list(graph.edges(data=True))
    edges = attribute_table(
        "edges",
        {"source": [str(one) for one, _, _ in ends], "target": [str(other) for _, other, _ in ends]},
        [values for *_, values in ends],
    )
    nodes = attribute_table(
        "nodes", {"id": [str(node) for node in graph]}, [values for _, values in graph.nodes(data=True)]
    )
    return _from_tables(edges, nodes, label, {**options, "node_id": next(iter(nodes.schema))}, "polars")
