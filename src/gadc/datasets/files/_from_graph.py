"""`from_graph`: a graph object of another library as a PyTorch Geometric `Data`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch_geometric.data import Data

from gadc.datasets.files._attribute_tables import attribute_table
from gadc.datasets.tables._from_tables import from_tables


def from_graph(graph: Any, *, label: str | None = None, weight: str | None = None, **options: Any) -> Data:
    """Read nodes, edges and their attributes from a NetworkX or igraph graph.

    Args:
        graph: The graph. A NetworkX graph names nodes by anything, which becomes text unless all are whole
            numbers; an igraph graph names them by the attribute "name", or else by their numbers.
        label: Node attribute of the classes; by default `label`, `class` or `y`, if there is one.
        weight: Edge attribute of the weights; no weights by default.
        **options: Other options of `from_tables`, such as `features`, `categorical` and `missing`. A directed
            graph is read as directed unless `directed=False` says otherwise.

    Returns:
        Data with the attributes that `from_tables` describes.

    Examples:
        >>> import networkx as nx
        >>> from gadc.datasets import from_graph
        >>> graph = nx.Graph([("ann", "bob"), ("bob", "eve")])
        >>> nx.set_node_attributes(graph, {"ann": 31, "bob": 27, "eve": 45}, "age")
        >>> data = from_graph(graph)
        >>> data.node_ids, data.x.flatten().tolist()
        (['ann', 'bob', 'eve'], [31.0, 27.0, 45.0])
    """
    library = type(graph).__module__.partition(".")[0]
    if library == "networkx":
        names, node_values = list(graph), [values for _, values in graph.nodes(data=True)]
        listed = [(source, target, values) for source, target, values in graph.edges(data=True)]
        directed = graph.is_directed()
    elif library == "igraph":
        numbers = range(graph.vcount())
        names = graph.vs["name"] if "name" in graph.vs.attributes() else list(numbers)
        node_values = [_without(graph.vs[i].attributes(), "name") for i in numbers]
        listed = [(names[edge.source], names[edge.target], edge.attributes()) for edge in graph.es]
        directed = graph.is_directed()
    else:
        raise TypeError(f"from_graph: graph must be a NetworkX or igraph graph, got {type(graph).__name__}.")
    ends = {"source": [str(edge[0]) for edge in listed], "target": [str(edge[1]) for edge in listed]}
    edges = attribute_table("edges", ends, [edge[2] for edge in listed])
    nodes = attribute_table("nodes", {"id": [str(name) for name in names]}, node_values)
    (source, target, *_), (node_id, *_) = edges.schema, nodes.schema
    roles = {"source": source, "target": target, "node_id": node_id, "label": label, "weight": weight}
    return from_tables(edges, nodes, **roles, **{"directed": directed, **options})  # type: ignore[arg-type]


def _without(values: Mapping[str, Any], left_out: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != left_out}
