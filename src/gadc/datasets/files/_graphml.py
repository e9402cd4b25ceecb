"""GraphML files, read by NetworkX."""

from __future__ import annotations

from pathlib import Path

from gadc._base.extras import require
from gadc.datasets.files._attribute_tables import attribute_table
from gadc.datasets.tables._table import Table


def read_graphml(path: Path) -> tuple[Table, Table]:
    """Read the edges and the nodes of a GraphML file, with their attributes, as two tables."""
    nx = require("networkx", "files")
    graph = nx.read_graphml(path)
    edges = list(graph.edges(data=True))
    ends = {"source": [edge[0] for edge in edges], "target": [edge[1] for edge in edges]}
    attributes = [values for _, values in graph.nodes(data=True)]
    return (
        attribute_table(f"{path} (edges)", ends, [edge[2] for edge in edges]),
        attribute_table(f"{path} (nodes)", {"id": list(graph)}, attributes),
    )
