"""The edges that an attack or a noise changed."""

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import edge_keys, key_ends


def changed_edges(data: Data) -> tuple[Tensor, Tensor]:
    """Undirected edges that an attack added and removed, each pair (u < v) once.

    Args:
        data: An attacked graph: `edge_index` and `clean_edge_index`, both undirected.

    Returns:
        Added pairs (2, a) and removed pairs (2, r), sorted.
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
    upper = edge_index[0] < edge_index[1]
    keys: Tensor = torch.unique(edge_keys(edge_index, num_nodes)[upper])
    return keys
