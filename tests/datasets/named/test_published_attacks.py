import pytest
import torch
from torch_geometric.data import Data

from gadc.datasets import changed_edges
from gadc.datasets.named._published_attacks import PublishedAttack


def both(*pairs):
    edges = torch.tensor(pairs).T
    return torch.cat([edges, edges.flip(0)], dim=1)


def test_changed_edges():
    data = Data(
        num_nodes=5, edge_index=both((0, 1), (2, 3), (0, 4)), clean_edge_index=both((0, 1), (1, 2), (3, 4))
    )
    added, removed = changed_edges(data)
    assert added.T.tolist() == [[0, 4], [2, 3]]
    assert removed.T.tolist() == [[1, 2], [3, 4]]


def test_a_clean_graph_has_no_changes_to_tell():
    with pytest.raises(ValueError, match="clean_edge_index"):
        changed_edges(Data(num_nodes=2, edge_index=both((0, 1))))


@pytest.mark.parametrize("rate", [None, 0.3])
def test_rates_are_the_published_ones(rate):
    with pytest.raises(ValueError, match=r"rate must be one of 0\.25, 0\.5, got"):
        PublishedAttack(files={0.25: "a", 0.5: "b"}).read(rate, 3, bytes)
