"""One pass over the graph for a whole grid, against each combination in dense float64."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gadc
from gadc.diffusion import VARIANTS
from gadc.models.auto.candidates._sweep import lower_rank_gram, moments_pay, sweep, sweep_gram
from tests.helpers import dense
from tests.helpers.graphs import graphs, random_graph

GRID = [(0.5, 0), (0.5, 3), (8.0, 3), (8.0, 1), (64.0, 6)]
GRAPH = random_graph(40, 90, 6, weighted=True)


def _expected(graph, variant, eps, lam, steps):
    T = dense.transition(graph.x, graph.A, variant, eps=eps)
    return dense.diffusion_matrix(T, lam, steps) @ graph.x


@given(graphs(), st.sampled_from(sorted(VARIANTS)), st.floats(0, 2), st.data())
def test_sweep_gives_each_diffusion_at_the_rows(graph, variant, eps, data):
    rows = torch.tensor(data.draw(st.lists(st.integers(0, len(graph.x) - 1), min_size=1, max_size=4)))
    operator = gadc.transition(*graph.args, variant=variant, eps=eps)
    found = sweep(operator, graph.x, GRID, rows)
    assert list(found) == sorted(GRID, key=lambda pair: pair[1])
    for (lam, steps), features in found.items():
        expected = _expected(graph, variant, eps, lam, steps)[rows]
        assert torch.allclose(features, expected, rtol=1e-8, atol=1e-9)


@given(graphs(), st.lists(st.floats(0, 2), min_size=1, max_size=3, unique=True))
def test_sweep_gram_gives_every_radius_of_ii(graph, radii):
    rows = torch.arange(len(graph.x))
    plain = gadc.transition(*graph.args, variant="plain")
    found = sweep_gram(plain, graph.x, radii, GRID, rows)
    for eps in radii:
        for (lam, steps), features in found[eps].items():
            expected = _expected(graph, "II", eps, lam, steps)
            assert torch.allclose(features, expected, rtol=1e-8, atol=1e-9)


def test_sweeps_pass_over_the_graph_once(monkeypatch):
    counted = []
    multiply = gadc.LinearOperator.__matmul__
    monkeypatch.setattr(
        gadc.LinearOperator, "__matmul__", lambda T, H: counted.append(len(H)) or multiply(T, H)
    )
    plain = gadc.transition(*GRAPH.args, variant="plain")
    sweep(plain, GRAPH.x, GRID, torch.arange(3))
    assert len(counted) == 6
    sweep_gram(plain, GRAPH.x, [0.1, 1.0, 2.0], GRID, torch.arange(3))
    assert len(counted) == 12


def test_sweep_gram_rejects_zero_features():
    plain = gadc.transition(*GRAPH.args, variant="plain")
    with pytest.raises(ValueError, match="all features in x are zero"):
        sweep_gram(plain, torch.zeros_like(GRAPH.x), [1.0], GRID, torch.arange(3))


def test_moments_pay_for_few_features():
    assert moments_pay(20_000, 500, 16, 4)
    assert not moments_pay(2_700, 1_433, 32, 2)


def test_lower_rank_gram_keeps_its_error():
    x = torch.randn(300, 200, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x[:5] *= 50  # a few rows hold nearly all of Φ
    graph = random_graph(300, 900, 2)
    full = gadc.transition(x, graph.edge_index, variant="II")
    lower = lower_rank_gram(full, x, 8, 1e-2)
    assert lower.left.shape[1] < 50
    theta = gadc.series.neumann(8.0, 8)
    exact = gadc.polynomial(full, x, theta)
    assert (gadc.polynomial(lower, x, theta) - exact).norm() < 1e-2 * exact.norm()
    # Where no lower rank is good enough, a quarter of the rank is used all the same.
    flat = torch.eye(300, 200, dtype=torch.float64)
    stiff = gadc.transition(flat, graph.edge_index, variant="II", eps=50.0)
    assert lower_rank_gram(stiff, flat, 8, 1e-9).left.shape[1] == 50
    with pytest.raises(ValueError, match="must have a low-rank part"):
        lower_rank_gram(gadc.transition(x, graph.edge_index, variant="plain"), x, 8, 1e-2)
