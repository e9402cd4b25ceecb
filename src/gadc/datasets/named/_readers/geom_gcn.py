"""Geom-GCN format (Pei et al., ICLR 2020): a text file of edges and a text file of nodes."""

import numpy as np
from scipy import sparse

from gadc.datasets.named._raw_graph import Array, RawGraph


def read(edges: bytes, nodes: bytes) -> RawGraph:
    """Read WebKB: the line of a node holds all its features, 0 or 1, and its label."""
    order, features, y = _columns(nodes)
    x = np.array([np.array(row.split(b","), dtype=np.float32) for row in features])
    return _graph(edges, order, sparse.csr_array(x), y)


def read_actor(edges: bytes, nodes: bytes) -> RawGraph:
    """Read Actor: the line of a node lists the numbers of its features that are 1, and its label."""
    order, features, y = _columns(nodes)
    ones = [np.array(row.split(b","), dtype=np.int64) for row in features]
    rows, columns = np.repeat(np.arange(len(ones)), [len(row) for row in ones]), np.concatenate(ones)
    dense = np.zeros((len(ones), int(columns.max()) + 1), dtype=np.float32)
    dense[rows, columns] = 1  # a feature may be listed twice
    return _graph(edges, order, sparse.csr_array(dense), y)


def _columns(nodes: bytes) -> tuple[Array, list[bytes], Array]:
    """Return node numbers, feature columns and labels of the lines after the header."""
    numbers, features, labels = zip(*(line.split(b"\t") for line in nodes.splitlines()[1:]), strict=True)
    return np.array(numbers, dtype=np.int64), list(features), np.array(labels, dtype=np.int64)


def _graph(edges: bytes, order: Array, x: sparse.csr_array, y: Array) -> RawGraph:
    """Build the graph with the nodes in the order of their numbers; lines may have another order."""
    lines = np.argsort(order)
    if not np.array_equal(order[lines], np.arange(len(order))):
        raise ValueError(f"Geom-GCN nodes: node numbers must be 0..{len(order) - 1}, each once.")
    pairs = np.array([line.split() for line in edges.splitlines()[1:]], dtype=np.int64)
    return RawGraph(edges=pairs.T, y=y[lines], x=sparse.csr_array(x[lines]))
