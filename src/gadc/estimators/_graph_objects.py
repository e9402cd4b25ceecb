"""Graphs of other libraries as the matrix or the edges that an estimator reads.

Node i of the graph belongs to row i of X. If the nodes of a NetworkX graph are the numbers 0..n-1, number i
is row i; otherwise the nodes are taken in the order of the graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch_geometric.data import Data

from gadc.estimators._relations import refuse_relations

FORMS = (
    "a square matrix (NumPy, SciPy or torch), a NetworkX or igraph graph, a PyTorch Geometric Data, or an "
    "edge index of shape (2, edges)"
)


def to_matrix(owner: str, graph: Any, num_nodes: int) -> Any:
    """Return a graph of another library as a sparse matrix; other values are returned as they are.

    Args:
        owner: Estimator that an error names.
        graph: A NetworkX or igraph graph (weights in the edge attribute "weight"), a PyG `Data`,
            an edge index of shape (2, edges), a pair of an edge index and weights, or a matrix.
        num_nodes: Number of rows of X.
    """
    library = type(graph).__module__.partition(".")[0]
    if isinstance(graph, Data):
        if graph.edge_index is None:
            raise ValueError(f"{owner}: adjacency must have an edge_index, got a Data without it.")
        refuse_relations(owner, graph, "from a Data by GADCClassifier.fit_data")
        return _from_edges(owner, graph.edge_index, graph.get("edge_weight"), num_nodes)
    if library == "networkx":
        return _from_networkx(owner, graph, num_nodes)
    if library == "igraph":
        ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2).T
        weight = graph.es["weight"] if "weight" in graph.es.attributes() else None
        _check_nodes(owner, graph.vcount(), num_nodes)
        return _from_edges(owner, ends, weight, num_nodes)
    if isinstance(graph, tuple) and len(graph) == 2 and _is_edge_index(graph[0], num_nodes):
        return _from_edges(owner, *graph, num_nodes)
    if isinstance(graph, torch.Tensor) and graph.layout != torch.strided:
        entries = graph.to_sparse_coo().coalesce()  # type: ignore[no-untyped-call]
        return sparse.coo_array((entries.values().numpy(), tuple(entries.indices().numpy())), entries.shape)
    return _from_edges(owner, graph, None, num_nodes) if _is_edge_index(graph, num_nodes) else graph


def _is_edge_index(value: Any, num_nodes: int) -> bool:
    """Tell an edge index from a matrix: integers in two rows, which only a matrix of two nodes has."""
    if not isinstance(value, np.ndarray | torch.Tensor) or value.ndim != 2 or value.shape[0] != 2:
        return False
    if isinstance(value, torch.Tensor) and value.layout != torch.strided:
        return False
    whole = np.asarray(value).dtype.kind in "iu"
    return whole and (num_nodes != 2 or value.shape[1] != 2)


def _from_edges(owner: str, ends: Any, weight: Any, num_nodes: int) -> sparse.coo_array:
    rows, cols = np.asarray(ends, dtype=np.int64)
    if len(rows) and not (min(rows.min(), cols.min()) >= 0 and max(rows.max(), cols.max()) < num_nodes):
        raise ValueError(
            f"{owner}: adjacency must have node numbers from 0 to {num_nodes - 1}, one node per row of X, "
            f"got {min(rows.min(), cols.min())} to {max(rows.max(), cols.max())}."
        )
    values = np.ones(len(rows)) if weight is None else np.asarray(weight, dtype=np.float64)
    if values.shape != rows.shape:
        raise ValueError(
            f"{owner}: adjacency must have one weight per edge, got {values.shape[0]} weights of {len(rows)} "
            "edges."
        )
    return sparse.coo_array((values, (rows, cols)), shape=(num_nodes, num_nodes))


def _from_networkx(owner: str, graph: Any, num_nodes: int) -> sparse.coo_array:
    nodes = list(graph)
    _check_nodes(owner, len(nodes), num_nodes)
    if all(type(node) is int for node in nodes) and set(nodes) == set(range(num_nodes)):
        nodes = list(range(num_nodes))
    place = {node: i for i, node in enumerate(nodes)}
    edges = [(place[u], place[v], weight) for u, v, weight in graph.edges(data="weight", default=1.0)]
    ends = np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2).T
    if not graph.is_directed():  # once per edge, so that two directions do not add up
        ends = np.concatenate([ends, ends[::-1, ends[0] != ends[1]]], axis=1)
        edges += [edge for edge in edges if edge[0] != edge[1]]
    return _from_edges(owner, ends, [edge[2] for edge in edges], num_nodes)


def _check_nodes(owner: str, found: int, num_nodes: int) -> None:
    if found != num_nodes:
        raise ValueError(
            f"{owner}: adjacency must be a graph with one node per row of X, {num_nodes}, got {found} nodes."
        )
