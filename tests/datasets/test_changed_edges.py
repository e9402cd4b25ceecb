"""Edges that an attack changed."""

import pytest
import torch
from torch_geometric.data import Data

from gadc.datasets import changed_edges


def both(*pairs):
    edges = torch.tensor(pairs).T
    return torch.cat([edges, edges.flip(0)], dim=1)


def test_changed_edges_are_the_added_and_removed_pairs():
    data = Data(
        num_nodes=5, edge_index=both((0, 1), (2, 3), (0, 4)), clean_edge_index=both((0, 1), (1, 2), (3, 4))
    )
    added, removed = changed_edges(data)
    assert added.T.tolist() == [[0, 4], [2, 3]]
    assert removed.T.tolist() == [[1, 2], [3, 4]]


def test_changed_edges_needs_the_clean_edges():
    with pytest.raises(ValueError, match="clean_edge_index"):
        changed_edges(Data(num_nodes=2, edge_index=both((0, 1))))
