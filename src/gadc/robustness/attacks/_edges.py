"""The graph as Metattack and Nettack keep it: its edges as sorted numbers of pairs, see `_base.pairs`."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import encode_pairs, pair_numbers
from gadc._base.validation import check_features


def flip_edges(numbers: Tensor, pairs: Tensor) -> Tensor:
    """The edges after flipping distinct pairs (2, k), u < v."""
    both = torch.cat([numbers, pair_numbers(*pairs)])
    distinct, count = torch.unique(both, return_counts=True)
    return torch.masked_select(distinct, count == 1)


def check_graph(owner: str, data: Data) -> tuple[Tensor, Tensor, Tensor]:
    """Features, edges as numbers of pairs, and training nodes; surrogates do not look at edge weights."""
    train_nodes = torch.nonzero(data.train_mask).squeeze(1)
    if not len(train_nodes):
        raise ValueError(f"{owner}: train_mask must name at least one node, got none.")
    numbers, _ = encode_pairs(data.edge_index, None)
    return check_features(owner, data.x), numbers, train_nodes


def check_nodes(owner: str, nodes: Tensor, num_nodes: int) -> Tensor:
    """Distinct node numbers, at least one."""
    if nodes.dtype == torch.bool or nodes.ndim != 1 or not len(nodes):
        raise ValueError(f"{owner}: nodes must be a vector of node numbers, got {nodes.dtype} {nodes.shape}.")
    if int(nodes.min()) < 0 or int(nodes.max()) >= num_nodes or len(torch.unique(nodes)) != len(nodes):
        raise ValueError(f"{owner}: nodes must be distinct numbers from 0 to {num_nodes - 1}.")
    return nodes.long()
