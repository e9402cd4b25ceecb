"""Geom-GCN format (Pei et al., ICLR 2020): a text file of edges and one of nodes, features and labels."""

import numpy as np
from scipy import sparse

from gadc.datasets.named._raw_graph import Array, RawGraph


def read(edges: bytes, nodes: bytes) -> RawGraph:
    """WebKB: each node line holds all its features, 0 or 1."""
    order, features, y = _columns(nodes)
    x = np.array([np.array(row.split(b","), dtype=np.float32) for row in features])
    return _graph(edges, order, sparse.csr_array(x), y)


def read_actor(edges: bytes, nodes: bytes) -> RawGraph:
    """Actor: each node line lists the numbers of the features that are 1."""
    order, features, y = _columns(nodes)
    ones = [np.array(row.split(b","), dtype=np.int64) for row in features]
    rows, columns = np.repeat(np.arange(len(ones)), [len(row) for row in ones]), np.concatenate(ones)
    dense = np.zeros((len(ones), int(columns.max()) + 1), dtype=np.float32)
    dense[rows, columns] = 1  # a feature may be listed twice
    return _graph(edges, order, sparse.csr_array(dense), y)


def _columns(nodes: bytes) -> tuple[Array, list[bytes], Array]:
    """Node numbers, feature columns and labels of the lines after the heading."""
    numbers, features, labels = zip(*(line.split(b"\t") for line in nodes.splitlines()[1:]), strict=True)
    return np.array(numbers, dtype=np.int64), list(features), np.array(labels, dtype=np.int64)


def _graph(edges: bytes, order: Array, x: sparse.csr_array, y: Array) -> RawGraph:
    """RawGraph with the nodes in the order of their numbers, which need not be that of the lines."""
    lines = np.argsort(order)
    if not np.array_equal(order[lines], np.arange(len(order))):
        raise ValueError(f"Geom-GCN nodes: numbers must be 0..{len(order) - 1}, each once.")
    pairs = np.array([line.split() for line in edges.splitlines()[1:]], dtype=np.int64)
    return RawGraph(edges=pairs.T, y=y[lines], x=sparse.csr_array(x[lines]))
