"""The graph as Metattack and Nettack store it: its edges as sorted numbers of pairs, see `_base.pairs`."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import encode_pairs, pair_numbers
from gadc._base.validation import check_features


def flip_edges(numbers: Tensor, pairs: Tensor) -> Tensor:
    """Flip distinct pairs u < v, shape (2, k), and return the numbers of the edges that result."""
    both = torch.cat([numbers, pair_numbers(*pairs)])
    distinct, count = torch.unique(both, return_counts=True)
    return torch.masked_select(distinct, count == 1)


def check_graph(owner: str, data: Data) -> tuple[Tensor, Tensor, Tensor]:
    """Return features, edges as numbers of pairs, and labelled training nodes; surrogates ignore weights."""
    train_nodes = torch.nonzero(data.train_mask & (data.y >= 0)).squeeze(1)
    if not len(train_nodes):
        raise ValueError(f"{owner}: train_mask must name at least one node with a label, got none.")
    numbers, _ = encode_pairs(data.edge_index, None)
    return check_features(owner, data.x), numbers, train_nodes
