"""Checks of graphs that the generators make."""

import torch
from torch_geometric.data import Data


def degrees(data: Data) -> torch.Tensor:
    """Return the degree of each node."""
    return torch.bincount(data.edge_index[0], minlength=data.num_nodes)


def homophily(data: Data) -> float:
    """Return the share of edges inside classes."""
    row, col = data.edge_index
    return float((data.y[row] == data.y[col]).double().mean())


def check_simple_sorted_undirected(data: Data) -> None:
    """Check that edges are sorted, undirected, and without self-loops and duplicates."""
    row, col = data.edge_index
    assert data.edge_index.dtype == torch.int64
    assert (
        data.edge_index.numel() == 0 or 0 <= data.edge_index.min() <= data.edge_index.max() < data.num_nodes
    )
    assert not (row == col).any()
    forward, backward = row * data.num_nodes + col, col * data.num_nodes + row
    assert (forward[1:] > forward[:-1]).all()  # sorted by row, then column, and no duplicates
    assert torch.equal(backward.sort().values, forward)


def check_masks_partition(data: Data) -> None:
    """Check that each node is in exactly one mask."""
    counts = data.train_mask.long() + data.val_mask.long() + data.test_mask.long()
    assert (counts == 1).all()
