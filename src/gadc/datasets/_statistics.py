"""Facts that can be measured on any graph."""

from typing import Any

import numpy as np
from torch_geometric.data import Data

from gadc.datasets.named._raw_graph import Array


def graph_statistics(data: Data) -> dict[str, Any]:
    """The facts of a card that can be measured on any graph, such as a user's own."""
    edge_index = data.edge_index.numpy()
    degree = np.bincount(edge_index[0], minlength=data.num_nodes)
    facts = {
        "nodes": data.num_nodes,
        "features": 0 if data.x is None else data.x.shape[1],
        "edges": edge_index.shape[1] // (2 if data.is_undirected() else 1),
        "isolated_nodes": int((degree == 0).sum()),
        "mean_degree": float(degree.mean()),
        "max_degree": int(degree.max()),
    }
    if data.y is None:
        return facts
    y = data.y.numpy()
    classes = getattr(data, "class_names", None) or [str(number) for number in range(int(y.max()) + 1)]
    sizes = np.bincount(y[y >= 0], minlength=len(classes)).tolist()
    return facts | {
        "classes": dict(zip(map(str, classes), sizes, strict=True)),
        "unlabelled": int((y < 0).sum()),
        "homophily": homophily(edge_index, y),
    }


def homophily(edge_index: Array, y: Array) -> float | None:
    """Share of the edges between labelled nodes that join two nodes of one class; None without such edges."""
    u, v = y[edge_index[0]], y[edge_index[1]]
    both = (u >= 0) & (v >= 0)
    return float((u == v)[both].mean()) if both.any() else None
