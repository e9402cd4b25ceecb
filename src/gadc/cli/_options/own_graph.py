"""Options for a graph of the user: two tables, or one file."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from torch_geometric.data import Data

from gadc.datasets import from_tables, read_graph

_option = partial(typer.Option, rich_help_panel="A graph of your own")

Edges = Annotated[Path | None, _option("--edges", help="Edge table (CSV, TSV, Parquet or Feather).")]
Nodes = Annotated[Path | None, _option("--nodes", help="Node table (CSV, TSV, Parquet or Feather).")]
Graph = Annotated[
    Path | None, _option("--graph", help="Single file instead of tables (.npz, .graphml, .edgelist or .pt).")
]
Source = Annotated[
    str | None, _option("--source", help="Edge column with one end. Default: source, src, from or the first.")
]
Target = Annotated[
    str | None,
    _option("--target", help="Edge column with the other end. Default: target, dst, to or the second."),
]
Weight = Annotated[
    str | None, _option("--weight", help="Edge column with weights >= 0. Default: no weights.")
]
NodeId = Annotated[
    str | None,
    _option("--node-id", help="Node column with the ids. Default: id, node_id, node or the first."),
]
Label = Annotated[
    str | None,
    _option("--label", help="Node column with the classes; empty = unlabelled. Default: label, class or y."),
]
Features = Annotated[
    str | None,
    _option("--features", help="Feature columns, separated by commas. Default: all numeric columns."),
]
Categorical = Annotated[
    str, _option("--categorical", help="Text columns: skip (not used) or onehot (one column per value).")
]
Missing = Annotated[
    str, _option("--missing", help="Empty feature cells: error, mean of the column, or zero.")
]
Unknown = Annotated[
    str, _option("--unknown", help="Edges to nodes without a row: error, drop the edge, or add the node.")
]


@dataclass(frozen=True, kw_only=True)
class OwnGraphOptions:
    """The options that describe a graph of the user."""

    edges: Edges = None
    nodes: Nodes = None
    graph: Graph = None
    source: Source = None
    target: Target = None
    weight: Weight = None
    node_id: NodeId = None
    label: Label = None
    features: Features = None
    categorical: Categorical = "skip"
    missing: Missing = "error"
    unknown: Unknown = "error"

    @property
    def is_given(self) -> bool:
        """Return whether a file was named."""
        return any((self.edges, self.nodes, self.graph))

    def read_own(self) -> Data:
        """Read the graph; `data.table_report` says what was found in the tables."""
        features = [name.strip() for name in self.features.split(",")] if self.features else None
        common = {"label": self.label, "weight": self.weight, "features": features}
        common |= {"categorical": self.categorical, "missing": self.missing}
        if self.graph is not None:
            if self.edges or self.nodes:
                raise ValueError("Use either --graph or --edges and --nodes, not both.")
            return read_graph(self.graph, **common)  # type: ignore[arg-type]
        if self.edges is None or self.nodes is None:
            raise ValueError("Use --edges and --nodes together: an edge table and a node table.")
        ends = {"source": self.source, "target": self.target, "node_id": self.node_id}
        return from_tables(self.edges, self.nodes, unknown=self.unknown, **ends, **common)  # type: ignore[arg-type]
