"""NumPy archives: graphs of gnn-benchmark and of Platonov et al., adjacency matrices, masks.

Archives are opened without pickle. Some hold the names of nodes or classes as pickled objects; these members
are never opened.
"""

from io import BytesIO
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from gadc.datasets.named._raw_graph import Array, RawGraph
from gadc.datasets.named._roles import roles


def read_csr(content: bytes) -> RawGraph:
    """Read the gnn-benchmark form (Shchur et al., 2018): CSR parts `adj_*` and `attr_*`, and `labels`."""
    archive = _open(content)
    adj = _csr(archive, "adj")
    x = _csr(archive, "attr").astype(np.float32) if "attr_data" in archive else None
    return RawGraph(edges=_edges(adj), y=archive["labels"].astype(np.int64), x=x)


def read_largest_component(content: bytes) -> RawGraph:
    """Read the gnn-benchmark form and keep the largest component, as DeepRobust does; the order stays.

    If there are no features (Polblogs), the identity matrix takes their place.
    """
    graph = read_csr(content)
    n = graph.num_nodes
    adj = sparse.csr_array((np.ones(graph.edges.shape[1]), tuple(graph.edges)), shape=(n, n))
    _, component = connected_components(adj, directed=False)
    keep = np.flatnonzero(component == np.bincount(component).argmax())
    x = sparse.eye_array(len(keep), dtype=np.float32) if graph.x is None else sparse.csr_array(graph.x)[keep]
    return RawGraph(
        edges=_edges(sparse.csr_array(adj[keep][:, keep])), y=graph.y[keep], x=sparse.csr_array(x)
    )


def read_heterophilous(content: bytes) -> RawGraph:
    """Read the form of Platonov et al. (ICLR 2023): dense features, a list of edges, and ten splits."""
    archive = _open(content)
    masks = [archive[f"{part}_masks"] for part in ("train", "val", "test")]
    return RawGraph(
        edges=archive["edges"].T.astype(np.int64),
        y=archive["node_labels"].astype(np.int64),
        x=sparse.csr_array(archive["node_features"].astype(np.float32)),
        splits={"published": roles(*masks)},
    )


def read_adjacency(content: bytes) -> Array:
    """Read the edges (2, m) of a sparse matrix that SciPy saved."""
    return _edges(sparse.csr_array(sparse.load_npz(BytesIO(content))))


def read_masks(content: bytes) -> Array:
    """Read the roles in a Geom-GCN split file."""
    archive = _open(content)
    return roles(*(archive[f"{part}_mask"] for part in ("train", "val", "test")))


def _open(content: bytes) -> Any:
    return np.load(BytesIO(content), allow_pickle=False)


def _csr(archive: Any, prefix: str) -> sparse.csr_array:
    parts = tuple(archive[f"{prefix}_{part}"] for part in ("data", "indices", "indptr"))
    return sparse.csr_array(parts, shape=tuple(archive[f"{prefix}_shape"].tolist()))


def _edges(adj: sparse.csr_array) -> Array:
    """List the entries other than zero."""
    return np.stack(adj.nonzero()).astype(np.int64)
