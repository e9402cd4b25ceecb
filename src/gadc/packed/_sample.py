"""A part of a packed graph in memory: labelled nodes and their neighbourhood."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from gadc.packed._graph import PackedGraph

_NEIGHBORS = 16  # neighbours of a node that are followed
_HOPS = 2
_LABELLED = 5  # at most one in so many nodes of the sample is there for its label

Nodes = NDArray[np.int64]


def sample_graph(graph: PackedGraph, *, max_nodes: int, seed: int = 0) -> Data:
    """Read labelled nodes, neighbours up to two steps away, and all edges among these nodes.

    Args:
        graph: The packed graph; without labels, the neighbourhood of random nodes is read.
        max_nodes: Largest number of nodes.
        seed: Seed of the choices.

    Returns:
        Data with `x`, `edge_index`, `edge_weight` if weighted, `y` and names, and `nodes`, the positions of
        the sampled nodes in the graph.
    """
    rng = np.random.default_rng(seed)
    nodes = _start(graph, max(max_nodes // _LABELLED, 1), rng)
    frontier = nodes
    for _ in range(_HOPS):
        found = np.setdiff1d(_neighbors(graph, frontier, rng), nodes)
        room = max_nodes - len(nodes)
        frontier = found if len(found) <= room else np.sort(rng.choice(found, room, replace=False))
        nodes = np.union1d(nodes, frontier)
    return _induced(graph, nodes)


def _start(graph: PackedGraph, limit: int, rng: np.random.Generator) -> Nodes:
    """Choose labelled nodes, at least one per class, or any nodes without labels."""
    if not (labelled := graph.labelled()).size:
        return np.sort(rng.choice(graph.num_nodes, min(limit, graph.num_nodes), replace=False))
    if len(labelled) <= limit:
        return labelled
    first = np.empty(0, dtype=np.int64)
    if graph.labels is not None:
        first = np.unique(np.asarray(graph.labels[labelled]), return_index=True)[1]
    chosen = rng.choice(len(labelled), limit, replace=False)
    return np.unique(labelled[np.concatenate([first, chosen])])


def _neighbors(graph: PackedGraph, nodes: Nodes, rng: np.random.Generator) -> Nodes:
    """Return some neighbours of each node."""
    starts, counts = graph.row_ptr[nodes], graph.row_ptr[nodes + 1] - graph.row_ptr[nodes]
    taken = np.minimum(counts, _NEIGHBORS)
    owner = np.repeat(np.arange(len(nodes)), taken)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(taken) - taken, taken)
    many = counts[owner] > _NEIGHBORS
    within[many] = rng.integers(0, counts[owner[many]])
    return np.unique(graph.cols[starts[owner] + within]).astype(np.int64)


def _induced(graph: PackedGraph, nodes: Nodes) -> Data:
    """Read the sampled nodes and all edges among them."""
    sources, places = list[Nodes](), list[Nodes]()
    columns = list[Nodes]()
    for i, node in enumerate(nodes):
        start, stop = int(graph.row_ptr[node]), int(graph.row_ptr[node + 1])
        row = np.asarray(graph.cols[start:stop])
        at = np.searchsorted(nodes, row)
        inside = np.flatnonzero(nodes[np.minimum(at, len(nodes) - 1)] == row)
        sources.append(np.full(len(inside), i))
        columns.append(at[inside])
        places.append(start + inside)
    data = Data(
        x=torch.from_numpy(graph.rows(nodes)),
        edge_index=torch.from_numpy(np.stack([_joined(sources), _joined(columns)])),
        num_nodes=len(nodes),
    )
    if graph.weights is not None:
        data.edge_weight = torch.from_numpy(np.asarray(graph.weights[_joined(places)]))
    add_names(data, graph, nodes)
    data.nodes = torch.from_numpy(nodes)
    return data


def add_names(data: Data, graph: PackedGraph, nodes: Nodes) -> None:
    """Give a part of the graph its labels, names and preparation."""
    data.feature_names, data.feature_preparation = graph.feature_names, graph.preparation
    graph.add_answers(data, nodes)


def _joined(parts: list[Any]) -> Nodes:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts]).astype(np.int64)
