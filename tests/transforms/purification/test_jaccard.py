"""Jaccard against sets of words."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from gadc.transforms import Jaccard
from tests.helpers.graphs import graphs


def _similarity(one, other):
    a, b = set(one.nonzero().flatten().tolist()), set(other.nonzero().flatten().tolist())
    return len(a & b) / len(a | b) if a | b else 0.0


@settings(max_examples=40)
@given(graphs(), st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 1.0]), st.integers(0, 99))
def test_jaccard_drops_exactly_the_edges_below_the_threshold(graph, threshold, seed):
    words = torch.rand(graph.x.shape, generator=torch.Generator().manual_seed(seed)) < 0.4
    x = graph.x * words
    data = Data(x=x, edge_index=graph.edge_index, edge_weight=graph.edge_weight)
    pure = Jaccard(threshold=threshold)(data)
    kept = [
        e
        for e, (i, j) in enumerate(graph.edge_index.T.tolist())
        if i == j or _similarity(x[i], x[j]) >= threshold
    ]
    assert torch.equal(pure.edge_index, graph.edge_index[:, kept])
    if graph.edge_weight is not None:
        assert torch.equal(pure.edge_weight, graph.edge_weight[kept])


def test_jaccard_similarity_of_two_empty_rows_is_zero():
    data = Data(x=torch.zeros(2, 3), edge_index=torch.tensor([[0], [1]]))
    assert Jaccard(threshold=0.01)(data).edge_index.shape == (2, 0)
    assert Jaccard(threshold=0.0)(data).edge_index.shape == (2, 1)


def test_jaccard_keeps_other_attributes_and_its_input():
    x = torch.tensor([[1.0, 0], [0, 1.0], [1.0, 0]])
    data = Data(x=x, edge_index=torch.tensor([[0, 0], [1, 2]]), y=torch.arange(3))
    pure = Jaccard()(data)
    assert pure.edge_index.tolist() == [[0], [2]]
    assert torch.equal(pure.y, data.y)
    assert data.edge_index.shape == (2, 2)
    assert "edge_weight" not in pure


def test_jaccard_refuses_bad_settings_and_edge_attributes():
    with pytest.raises(ValueError, match="Jaccard: threshold must be finite and >= 0, got -1"):
        Jaccard(threshold=-1)
    data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]), edge_attr=torch.ones(1, 2))
    with pytest.raises(
        ValueError, match="Jaccard: edges may have no attribute but edge_weight, got edge_attr"
    ):
        Jaccard()(data)
