"""Graphs of the Open Graph Benchmark (Hu et al., NeurIPS 2020)."""

import json
from typing import Any

import numpy as np

from gadc._base.files import cache_folder
from gadc.datasets.named._raw_graph import RawGraph
from gadc.datasets.named._readers.npz import read_adjacency
from gadc.datasets.named._roles import roles_from_indices
from gadc.datasets.named._sources import Sources


def read_arxiv(adjacency: bytes, classes: bytes, role: bytes) -> RawGraph:
    """Read ogbn-arxiv from its GraphSAINT form: graph, labels and official split, but no features."""
    by_node = json.loads(classes)
    y = np.array([by_node[str(node)] for node in range(len(by_node))], dtype=np.int64)
    part = json.loads(role)
    official = roles_from_indices(len(y), part["tr"], part["va"], part["te"])
    return RawGraph(edges=read_adjacency(adjacency), y=y, splits={"official": official[None]})


def read_products(sources: Sources) -> RawGraph:
    """Read ogbn-products with the `ogb` package, which downloads and keeps its own files (1.4 GB).

    Raises:
        ImportError: The package is not installed.
    """
    try:
        from ogb.nodeproppred import NodePropPredDataset
    except ImportError as error:
        raise ImportError(
            "ogbn-products: the package ogb, which downloads 1.4 GB at first use, is not installed; "
            'install it with: pip install "gadc[ogb]".'
        ) from error
    given = sources.root / "ogb" if sources.root else None
    root = given if given is not None and given.is_dir() else cache_folder() / "ogb"
    dataset: Any = NodePropPredDataset(name="ogbn-products", root=str(root))
    graph, labels = dataset[0]
    part = dataset.get_idx_split()
    y = np.asarray(labels).reshape(-1).astype(np.int64)
    official = roles_from_indices(len(y), part["train"], part["valid"], part["test"])
    return RawGraph(edges=graph["edge_index"], y=y, x=graph["node_feat"], splits={"official": official[None]})
