"""Exact counts of noise on edges, and graphs that it refuses."""

import math

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch_geometric.data import Data
from torch_geometric.utils import contains_self_loops, is_undirected, to_undirected

from gadc.transforms import EdgeAddition, EdgeRemoval, EdgeRewiring
from tests.helpers.ring import pair_set, ring


@given(n=st.integers(3, 30), rate=st.floats(0, 1), seed=st.integers(0, 9), weighted=st.booleans())
@settings(max_examples=40, deadline=None)
def test_edge_counts_are_exact_and_the_graph_stays_simple(n, rate, seed, weighted):
    data = ring(n, weighted=weighted)
    old, count = pair_set(data.edge_index), math.floor(rate * n + 0.5)
    free = n * (n - 1) // 2 - n
    for kind, lost, gained in (
        (EdgeRemoval, count, 0),
        (EdgeAddition, 0, count),
        (EdgeRewiring, count, count),
    ):
        noise = kind(rate=rate, seed=seed)
        if gained > free:
            with pytest.raises(ValueError, match=f"only {free} pairs"):
                noise(data)
            continue
        out = noise(data)
        new = pair_set(out.edge_index)
        assert (len(old - new), len(new - old)) == (lost, gained)
        assert out.edge_index.shape[1] == 2 * len(new)
        assert is_undirected(out.edge_index, num_nodes=n)
        assert not contains_self_loops(out.edge_index)
        assert torch.equal(out.clean_edge_index, data.edge_index)
        assert out.num_nodes == n
        if weighted:
            weight = dict(zip(map(tuple, out.edge_index.t().tolist()), out.edge_weight.tolist(), strict=True))
            for u, v in new:
                assert weight[u, v] == weight[v, u] == (2.0 + u + 100.0 * v if (u, v) in old else 1.0)


def test_edge_addition_fills_a_dense_graph_and_then_refuses():
    n = 12
    full = torch.combinations(torch.arange(n)).t()
    data = Data(edge_index=to_undirected(full[:, 1:]), num_nodes=n)
    out = EdgeAddition(rate=1 / 65)(data)
    assert pair_set(out.edge_index) == set(map(tuple, full.t().tolist()))
    with pytest.raises(ValueError, match="only 0 pairs without an edge"):
        EdgeAddition(rate=0.5)(out)


def test_edge_addition_needs_no_square_matrix_for_millions_of_nodes():
    n = 3_000_000
    data = Data(edge_index=to_undirected(torch.tensor([[0, 5, n - 2], [1, n - 1, n - 1]])), num_nodes=n)
    out = EdgeAddition(rate=1000, seed=1)(data)
    assert out.edge_index.shape[1] == 2 * 3003
    assert int(out.edge_index.max()) < n
    assert len(pair_set(out.edge_index)) == 3003


def test_edge_removal_of_all_edges_keeps_the_nodes():
    data = Data(edge_index=ring(7).edge_index, num_nodes=7)
    out = EdgeRemoval(rate=1.0)(data)
    assert out.edge_index.shape == (2, 0)
    assert out.num_nodes == 7


def test_edge_removal_hits_each_edge_equally_often():
    hits, data = torch.zeros(10), ring(10)
    pairs = sorted(pair_set(data.edge_index))
    for seed in range(600):
        kept = pair_set(EdgeRemoval(rate=0.3, seed=seed)(data).edge_index)
        hits += torch.tensor([float(pair not in kept) for pair in pairs])
    assert torch.allclose(hits / 600, torch.full((10,), 0.3), atol=0.09)  # almost five standard deviations


def test_edge_noise_refuses_directed_edges_other_attributes_and_unequal_weights():
    one_way = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    with pytest.raises(ValueError, match="EdgeRemoval: edges must be undirected"):
        EdgeRemoval(rate=0.5)(one_way)
    typed = ring()
    typed.edge_attr = torch.zeros(typed.num_edges, 3)
    with pytest.raises(ValueError, match="edge_attr"):
        EdgeRemoval(rate=0.5)(typed)
    lopsided = ring(weighted=True)
    lopsided.edge_weight = torch.arange(float(lopsided.num_edges))
    with pytest.raises(ValueError, match="same in both directions"):
        EdgeRewiring(rate=0.5)(lopsided)
