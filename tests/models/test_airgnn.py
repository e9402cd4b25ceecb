"""AirGNN: its proximal step, its limits, and the dense iteration."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.models import AirGNN
from gadc.models._airgnn import shrink_rows
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs, random_graph

GRAPH = random_graph(12, 25, 4, weighted=True)


def _run(graph, **settings):
    """The output and H, for the same weights whatever the settings."""
    model = AirGNN(**settings)
    torch.manual_seed(0)
    module = model.build(graph.x.shape[1], 3).double().eval()
    with torch.no_grad():
        return module(graph.x, model.graph(*graph.args)), module.mlp(graph.x)


@settings(max_examples=25)
@given(graphs(), st.floats(0, 0.99), st.integers(0, 6))
def test_forward_is_the_dense_iteration(graph, lam, num_steps):
    """With the step size γ and the Laplacian written out."""
    found, H = _run(graph, lam=lam, num_steps=num_steps)
    L = torch.eye(len(H), dtype=H.dtype) - dense.normalized(graph.A)
    gamma, X = 1 / (2 * (1 - lam)), H
    for _ in range(num_steps):
        R = X - 2 * gamma * (1 - lam) * L @ X - H
        norms = R.norm(dim=1, keepdim=True)
        beta = torch.where(norms > 0, (1 - gamma * lam / norms).clamp(min=0), 0.0)
        X = H + beta * R
    assert torch.allclose(found, X, atol=1e-12)


@given(st.integers(0, 2**16), st.floats(0, 3))
def test_the_step_is_the_proximal_operator_of_the_l21_norm(seed, threshold):
    """Its value minimises ½‖P - R‖² + t Σ‖P_i‖: 0 is in the subdifferential, row by row."""
    rows = torch.randn(6, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    rows[0] = 0.0
    for before, after in zip(rows, shrink_rows(rows, threshold), strict=True):
        if bool((after == 0).all()):
            assert float(before.norm()) <= threshold + 1e-12
        else:
            assert torch.allclose(after - before + threshold * after / after.norm(), torch.zeros(3).double())


def test_at_zero_it_is_plain_averaging():
    found, H = _run(GRAPH, lam=0.0, num_steps=3)
    assert torch.allclose(found, torch.linalg.matrix_power(dense.normalized(GRAPH.A), 3) @ H)


def test_near_one_the_residual_is_zero():
    found, H = _run(GRAPH, lam=1 - 1e-9, num_steps=3)
    assert torch.equal(found, H)


def test_every_step_lowers_the_objective():
    L = torch.eye(12, dtype=torch.float64) - dense.normalized(GRAPH.A)

    def objective(num_steps):
        X, H = _run(GRAPH, lam=0.1, num_steps=num_steps)
        return float(0.1 * (X - H).norm(dim=1).sum() + 0.9 * torch.trace(X.T @ L @ X))

    values = [objective(num_steps) for num_steps in range(8)]
    assert all(after <= before + 1e-12 for before, after in pairwise(values))
    assert values[-1] < 0.9 * values[0]


def test_zero_rows_have_a_finite_gradient():
    rows = torch.zeros(2, 3, requires_grad=True)
    shrink_rows(rows, 0.1).sum().backward()
    assert bool((rows.grad == 0).all())


def test_gradient_in_the_edge_weights():
    check_edge_gradient(AirGNN(epochs=5, hidden=8))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(AirGNN(epochs=5, hidden=8))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lam": 1.0}, r"AirGNN: lam must lie in \[0, 1\), got 1.0"),
        ({"num_steps": -1}, "AirGNN: num_steps must be a whole number >= 0, got -1"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        AirGNN(**settings)
