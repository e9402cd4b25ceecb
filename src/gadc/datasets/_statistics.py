"""Statistics of any graph: counts, degrees, class sizes, homophily."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data


def graph_statistics(data: Data) -> dict[str, Any]:
    """Measure a graph.

    Args:
        data: Any graph with `edge_index`; `x`, `y` and `class_names` are optional.

    Returns:
        `nodes`, `features`, `edges` (an undirected edge counts once), `isolated_nodes`, `mean_degree` and
        `max_degree`; with labels also `classes` (name -> size), `unlabelled` and `homophily` (the share of
        the edges between labelled nodes that join two nodes of one class; None without such edges).

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from gadc.datasets import graph_statistics
        >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> facts = graph_statistics(Data(edge_index=edge_index, y=torch.tensor([0, 0, 1]), num_nodes=3))
        >>> facts["edges"], facts["max_degree"], facts["classes"], facts["homophily"]
        (2, 2, {'0': 2, '1': 1}, 0.5)
    """
    edge_index = data.edge_index.numpy()
    facts = {
        "nodes": data.num_nodes,
        "features": 0 if data.x is None else data.x.shape[1],
        "edges": edge_index.shape[1] // (2 if data.is_undirected() else 1),
        **degree_statistics(edge_index, data.num_nodes),
    }
    if data.y is None:
        return facts
    y = data.y.numpy()
    classes = data.get("class_names") or range(int(y.max()) + 1)
    sizes = np.bincount(y[y >= 0], minlength=len(classes)).tolist()
    return facts | {
        "classes": dict(zip(map(str, classes), sizes, strict=True)),
        "unlabelled": int((y < 0).sum()),
        "homophily": homophily(edge_index, y),
    }


def degree_statistics(edge_index: NDArray[Any], num_nodes: int) -> dict[str, Any]:
    """Count isolated nodes, and measure the mean and the largest degree."""
    degree = np.bincount(edge_index[0], minlength=num_nodes)
    return {
        "isolated_nodes": int((degree == 0).sum()),
        "mean_degree": float(degree.mean()),
        "max_degree": int(degree.max()),
    }


def homophily(edge_index: NDArray[Any], y: NDArray[Any]) -> float | None:
    """Compute the share of the edges between labelled nodes that join one class; None without such edges."""
    u, v = y[edge_index[0]], y[edge_index[1]]
    both = (u >= 0) & (v >= 0)
    return float((u == v)[both].mean()) if both.any() else None
