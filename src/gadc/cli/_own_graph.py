"""The options by which every command takes a user's own graph: two tables, or one file."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from torch_geometric.data import Data

_option = partial(typer.Option, rich_help_panel="A graph of your own")

Edges = Annotated[Path | None, _option("--edges", help="Table of edges: CSV, TSV, Parquet or Feather.")]
Nodes = Annotated[Path | None, _option("--nodes", help="Table of nodes, likewise.")]
Graph = Annotated[Path | None, _option("--graph", help="One file instead: .npz, .graphml, .edgelist, .pt.")]
Source = Annotated[str | None, _option("--source", help="Column with the one end of an edge.")]
Target = Annotated[str | None, _option("--target", help="Column with the other end.")]
Weight = Annotated[str | None, _option("--weight", help="Column with edge weights.")]
NodeId = Annotated[str | None, _option("--node-id", help="Column with the ids of the nodes.")]
Label = Annotated[str | None, _option("--label", help="Column with the classes; empty = unlabelled.")]
Features = Annotated[
    str | None,
    _option("--features", help="Feature columns, separated by commas; all numeric ones if absent."),
]
Categorical = Annotated[str, _option("--categorical", help="Text columns: skip (default) or onehot.")]
Missing = Annotated[str, _option("--missing", help="Empty feature cells: error, mean or zero.")]
Unknown = Annotated[str, _option("--unknown", help="Edges to unknown nodes: error, drop or add.")]


@dataclass(frozen=True, kw_only=True)
class OwnGraph:
    """What a user said about their graph on the command line; `gadc.cli._bundles` makes options of it."""

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
        """Whether there is a graph to read."""
        return any((self.edges, self.nodes, self.graph))

    def read(self) -> "Data":
        """The graph; what was found in it is in `data.table_report`."""
        from gadc.datasets import from_tables, read_graph

        features = [name.strip() for name in self.features.split(",")] if self.features else None
        common = {"label": self.label, "weight": self.weight, "features": features}
        common |= {"categorical": self.categorical, "missing": self.missing}
        if self.graph is not None:
            if self.edges or self.nodes:
                raise ValueError("--graph is one file for all: it does not go with --edges and --nodes.")
            return read_graph(self.graph, **common)  # type: ignore[arg-type]
        if self.edges is None or self.nodes is None:
            raise ValueError("--edges and --nodes go together: a table of edges and a table of nodes.")
        ends = {"source": self.source, "target": self.target, "node_id": self.node_id}
        return from_tables(self.edges, self.nodes, unknown=self.unknown, **ends, **common)  # type: ignore[arg-type]
