"""Patterns built by counting, and node orders, against the plain way."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gadc
from gadc.diffusion._graph import adjacency
from gadc.operators._backend import use_backend
from gadc.operators._build import pattern_of
from gadc.operators._numba import csr as numba_csr
from gadc.operators._ordering import cluster_order, reorder
from gadc.operators._products import spmm
from tests.helpers.graphs import Graph, graphs, random_graph


@given(graphs(weighted=False), st.booleans(), st.booleans())
def test_counting_equals_sorting(graph: Graph, directed: bool, both: bool):
    edges = torch.cat([graph.edge_index, graph.edge_index.flip(0)], 1) if both else graph.edge_index
    plain = adjacency(edges, None, len(graph.x), directed=directed, dtype=torch.float64)
    with use_backend("numba"):
        counted = adjacency(edges, None, len(graph.x), directed=directed, dtype=torch.float64)
    assert torch.equal(counted.pattern.row_ptr, plain.pattern.row_ptr)
    assert torch.equal(counted.pattern.cols, plain.pattern.cols)
    assert torch.equal(counted.values, plain.values)
    assert counted.symmetric == plain.symmetric


@pytest.mark.parametrize("threads", [1, 3])
def test_counting_in_threads(threads: int):
    n, before = 300, torch.get_num_threads()
    edges = torch.from_numpy(np.random.default_rng(0).integers(0, n, (2, 4000)))
    torch.set_num_threads(threads)
    counted = pattern_of(edges, n, directed=False)
    torch.set_num_threads(before)
    expected = adjacency(edges, None, n).pattern
    assert counted.symmetric
    assert torch.equal(counted.cols, expected.cols)
    assert torch.equal(counted.row_ptr, expected.row_ptr)


@pytest.mark.parametrize("variant", ["plain", "I", "II", "III", "IV"])
@pytest.mark.parametrize("norm", ["sym", "rw"])
def test_transitions_are_the_same_with_numba(variant: str, norm: str):
    graph = random_graph(40, 90, 5)
    edges = graph.edge_index
    with use_backend("torch"):
        expected = gadc.transition(graph.x, edges, variant=variant, norm=norm)
    with use_backend("numba"):
        T = gadc.transition(graph.x, edges, variant=variant, norm=norm)
    torch.testing.assert_close(T.to_dense(), expected.to_dense())
    assert T.bounds == pytest.approx(expected.bounds)


def test_a_cluster_order_is_a_permutation_that_keeps_cliques_together():
    n, size = 60, 12
    clique = torch.combinations(torch.arange(size))
    edges = torch.cat([clique + start for start in range(0, n, size)]).T
    hidden = torch.randperm(n, generator=torch.Generator().manual_seed(0))
    A = adjacency(hidden[edges], None, n)
    order = cluster_order(A.pattern)
    assert torch.equal(order.sort().values, torch.arange(n))
    clusters = hidden.argsort()[order] // size  # the clique of each node, along the order
    assert int((clusters.diff() != 0).sum()) == n // size - 1


def test_a_reordered_matrix_is_the_same_matrix():
    graph = random_graph(30, 70, 4)
    T = gadc.transition(graph.x, graph.edge_index, variant="plain", norm="rw")
    order = torch.randperm(30, generator=torch.Generator().manual_seed(0))
    pattern, values = reorder(T.pattern, T.values, order)
    expected = (T.to_dense() @ graph.x)[order]
    torch.testing.assert_close(numba_csr.spmm(pattern, values, graph.x[order]), expected)
    torch.testing.assert_close(spmm(pattern, values, graph.x[order]), expected)


@pytest.mark.parametrize("variant", ["plain", "II", "III"])
@pytest.mark.parametrize("backend", ["torch", "numba"])
@pytest.mark.parametrize("rtol", [None, 1e-8])
def test_an_order_does_not_change_the_answer(variant: str, backend: str, rtol: float | None):
    graph = random_graph(60, 150, 5)
    settings = {"variant": variant, "lam": 8.0, "num_steps": 30, "eps": 0.05}
    expected = gadc.diffuse(*graph.args, **settings)
    x = graph.x.clone()
    with use_backend(backend):
        actual = gadc.diffuse(*graph.args, **settings, order="cluster", rtol=rtol)
    assert (actual - expected).norm() <= 1e-7 * expected.norm()
    assert torch.equal(graph.x, x)
    with pytest.raises(ValueError, match="order must be one of 'cluster', got 'rcm'"):
        gadc.diffuse(*graph.args, order="rcm")


@pytest.mark.parametrize("rtol", [None, 1e-6])
def test_fused_series_equal_the_plain_ones(rtol: float | None):
    graph = random_graph(60, 150, 5)
    T = gadc.transition(graph.x, graph.edge_index, variant="II", eps=0.05)
    theta = gadc.neumann(8.0, 40)
    x = graph.x.T.contiguous().T  # not contiguous
    before = x.clone()
    expected = sum(w * torch.linalg.matrix_power(T.to_dense(), k) @ x for k, w in enumerate(theta))
    with use_backend("numba"):
        actual = gadc.polynomial(T, x, theta, rtol=rtol)
    assert (actual - expected).norm() <= (rtol or 1e-12) * expected.norm()
    assert torch.equal(x, before)


def test_bounds_of_iii_hold_the_spectrum_where_they_are_given():
    graph = random_graph(200, 400, 8)
    T = gadc.transition(*graph.args, variant="III", eps=0.1)
    assert T.bounds is not None
    eigenvalues = torch.linalg.eigvalsh(T.to_dense())
    assert T.bounds[0] <= eigenvalues[0]
    assert eigenvalues[-1] <= T.bounds[1]
    assert gadc.transition(*graph.args, variant="III", eps=50.0).bounds is None
