"""PageRank of a low-rank adjacency against the dense inverse."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from gadc.diffusion import LowRank
from gadc.transforms import TruncatedPPR
from gadc.transforms.purification._edges import largest_products
from tests.helpers.graphs import random_graph


def _page_rank(graph, rank, alpha):
    T = LowRank(rank=rank)(*graph.args).to_dense()
    return alpha * torch.linalg.inv(torch.eye(len(T), dtype=T.dtype) - (1 - alpha) * T)


@settings(max_examples=25)
@given(st.integers(0, 999), st.integers(1, 6), st.sampled_from([0.1, 0.15, 0.5]))
def test_resolvent_matches_the_dense_inverse(seed, rank, alpha):
    graph = random_graph(9, 16, 2, seed=seed)
    left, right, diagonal = TruncatedPPR(rank=rank, alpha=alpha).resolvent(*graph.args)
    expected = _page_rank(graph, rank, alpha)
    assert torch.allclose(left @ right.T + diagonal.diag(), expected, rtol=1e-6, atol=1e-8)


@settings(max_examples=25)
@given(st.integers(0, 999), st.integers(1, 12))
def test_truncated_ppr_keeps_the_largest_entries_of_each_row(seed, count):
    graph = random_graph(9, 16, 2, seed=seed)
    data = Data(x=graph.x, edge_index=graph.edge_index)
    pure = TruncatedPPR(rank=4, count=count)(data)
    full = _page_rank(graph, 4, 0.15)
    top = full.topk(min(count, 9), dim=1)
    expected = torch.zeros_like(full).scatter(1, top.indices, top.values.clamp(min=0))
    expected = expected / expected.sum(1, keepdim=True)
    found = torch.zeros_like(full)
    found[pure.edge_index[0], pure.edge_index[1]] = pure.edge_weight
    assert torch.allclose(found, expected, rtol=1e-6, atol=1e-8)
    assert torch.equal(data.edge_index, graph.edge_index)


def test_largest_products_by_blocks_match_the_whole_matrix(monkeypatch):
    monkeypatch.setattr("gadc.transforms.purification._edges._BLOCK", 3)
    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randn(8, 2, generator=generator, dtype=torch.float64) for _ in range(2))
    diagonal = torch.randn(8, generator=generator, dtype=torch.float64)
    values, columns = largest_products(left, right, 4, diagonal)
    expected = (left @ right.T + diagonal.diag()).topk(4, dim=1)
    assert torch.allclose(values, expected.values)
    assert torch.equal(columns, expected.indices)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 1.0}, r"TruncatedPPR: alpha must lie in \(0, 1\), got 1.0"),
        ({"count": 0}, "TruncatedPPR: count must be a whole number >= 1, got 0"),
        ({"rank": 0}, "TruncatedPPR: rank must be a whole number >= 1, got 0"),
    ],
)
def test_truncated_ppr_refuses_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        TruncatedPPR(**settings)
