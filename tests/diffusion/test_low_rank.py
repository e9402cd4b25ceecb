"""The low-rank adjacency against a dense singular value decomposition."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.diffusion import diffuse
from gadc.diffusion._graph import adjacency
from gadc.diffusion._low_rank import LowRank, leading_eigenpairs
from tests.helpers.graphs import graphs, random_graph


@settings(max_examples=30)
@given(graphs(), st.integers(1, 5))
def test_low_rank_adjacency_is_the_closest_of_its_rank(graph, rank):
    low = LowRank(rank=rank).adjacency(*graph.args).to_dense()
    left_out = torch.linalg.svdvals(graph.A)[rank:]
    assert torch.linalg.matrix_rank(low) <= rank
    assert torch.allclose((graph.A - low).norm(), left_out.norm(), atol=1e-10)
    assert torch.allclose(low, low.T, atol=1e-12)


@settings(max_examples=30)
@given(graphs(), st.integers(1, 5))
def test_low_rank_transition_equals_its_dense_form(graph, rank):
    low = LowRank(rank=rank).adjacency(*graph.args).to_dense()
    scale = (1 + low.sum(1)).clamp(min=1e-5).rsqrt()
    expected = scale.unsqueeze(1) * (low + torch.eye(len(low), dtype=low.dtype)) * scale
    found = LowRank(rank=rank)(*graph.args)
    assert torch.allclose(found.to_dense(), expected)
    assert torch.allclose(found @ graph.x, expected @ graph.x)


class _Negative(LowRank):
    def adjacency(self, *args):
        return -10.0 * super().adjacency(*args)


def test_low_rank_clamps_a_negative_degree():
    graph = random_graph(6, 9, 2, seed=3)
    found = _Negative(rank=1)(*graph.args)
    assert torch.allclose(found.values, torch.full((6,), 1e5, dtype=torch.float64))


@pytest.mark.parametrize("rank", [3, 20])
def test_leading_eigenpairs_equal_the_dense_ones(rank):
    graph = random_graph(300, 900, 2, weighted=True)
    A = adjacency(graph.edge_index, graph.edge_weight, 300, dtype=torch.float64)
    values, vectors = leading_eigenpairs(A, rank, seed=1)
    expected = torch.linalg.svdvals(graph.A)
    assert torch.allclose(values.abs(), expected[:rank])
    assert torch.allclose(A @ vectors, vectors * values)
    assert torch.equal(values, leading_eigenpairs(A, rank, seed=1)[0])
    low = (vectors * values) @ vectors.T
    other = leading_eigenpairs(A, rank, seed=2)
    assert torch.allclose(low, (other[1] * other[0]) @ other[1].T, atol=1e-9)


def test_low_rank_of_a_large_graph_without_edges_is_the_identity():
    found = LowRank(rank=4)(torch.ones(300, 1), torch.empty(2, 0, dtype=torch.int64))
    assert torch.equal(found.to_dense(), torch.eye(300))


def test_low_rank_can_be_diffused():
    graph = random_graph(12, 25, 4)
    T = LowRank(rank=3)(*graph.args).to_dense()
    found = diffuse(graph.x, graph.edge_index, variant=LowRank(rank=3), lam=1.0, num_steps=1)
    assert torch.allclose(found, (graph.x + 0.5 * T @ graph.x) / 2)


def test_low_rank_refuses_a_bad_rank():
    with pytest.raises(ValueError, match="LowRank: rank must be a whole number >= 1, got 0"):
        LowRank(rank=0)
