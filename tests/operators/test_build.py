"""Patterns built by counting, and fused series, against the plain way."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gadc
from gadc.diffusion import VARIANTS
from gadc.diffusion._graph import adjacency
from gadc.operators import use_backend
from gadc.operators._build import pattern_of
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


@pytest.mark.parametrize("variant", VARIANTS)
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


@pytest.mark.parametrize("rtol", [None, 1e-6])
def test_fused_series_equal_the_plain_ones(rtol: float | None):
    graph = random_graph(60, 150, 5)
    T = gadc.transition(graph.x, graph.edge_index, variant="II", eps=0.05)
    theta = gadc.series.neumann(8.0, 40)
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
