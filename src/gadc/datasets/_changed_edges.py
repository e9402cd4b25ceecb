"""The edges that an attack or noise changed."""

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import edge_keys, key_ends


def changed_edges(data: Data) -> tuple[Tensor, Tensor]:
    """Compare the edges of a graph with its clean edges.

    Args:
        data: A graph with `edge_index` and `clean_edge_index`, both undirected, such as an attacked graph of
            `load` or a graph with noise on its edges.

    Returns:
        Added edges (2, a) and removed edges (2, r), sorted, each once as a pair u < v.

    Examples:
        >>> from gadc.datasets import changed_edges, csbm
        >>> from gadc.transforms import EdgeRemoval
        >>> data = csbm(100)
        >>> added, removed = changed_edges(EdgeRemoval(rate=1.0)(data))
        >>> added.shape[1], removed.shape[1] == data.num_edges // 2
        (0, True)
    """
    if "clean_edge_index" not in data:
        raise ValueError(
            "changed_edges: data must have clean_edge_index, as an attacked graph of `load` has."
        )
    n = int(data.num_nodes)
    now, clean = (_keys(data[name], n) for name in ("edge_index", "clean_edge_index"))
    added, removed = now[~torch.isin(now, clean)], clean[~torch.isin(clean, now)]
    return key_ends(added, n), key_ends(removed, n)


def _keys(edge_index: Tensor, num_nodes: int) -> Tensor:
    """Return the sorted keys of the edges u < v, each once."""
    upper = edge_index[0] < edge_index[1]
    keys: Tensor = torch.unique(edge_keys(edge_index, num_nodes)[upper])
    return keys
