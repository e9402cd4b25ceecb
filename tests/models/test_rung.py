"""RUNG: the dense iteration, its limits, and a gradient that passes through the edge weights."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.models import RUNG
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs, random_graph

GRAPH = random_graph(12, 25, 4, weighted=True)


def _smooth(model, graph):
    return model.smooth(graph.x, model.graph(*graph.args))


def _dense(H, A, gamma, lam, num_steps):
    degrees = A.sum(1) + 1
    scale = degrees.rsqrt()
    F = H
    for _ in range(num_steps):
        y = torch.cdist(F * scale[:, None], F * scale[:, None]).clamp(min=0.01)
        W = (1 / (2 * y) - 1 / (2 * gamma)).clamp(min=0) * A
        q = W.sum(1) / degrees
        F = torch.linalg.solve((q + lam).diag(), (scale[:, None] * W * scale) @ F + lam * H)
    return F


@settings(max_examples=25)
@given(graphs(), st.floats(0.2, 6), st.floats(0.05, 0.95), st.integers(0, 4))
def test_smoothing_is_the_dense_iteration(graph, gamma, fidelity, num_steps):
    found = _smooth(RUNG(gamma=gamma, fidelity=fidelity, num_steps=num_steps), graph)
    expected = _dense(graph.x, graph.A, gamma, fidelity / (1 - fidelity), num_steps)
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-7)


def _energy(F, H, A, gamma, lam):
    scaled = F / (A.sum(1, keepdim=True) + 1).sqrt()
    y = torch.cdist(scaled, scaled)
    penalty = torch.where(y < gamma, y - y.square() / (2 * gamma), gamma / 2)
    return float((A * penalty).sum() / 2 + lam * (F - H).square().sum())


def test_steps_lower_the_energy():
    def energy(steps):
        return _energy(_smooth(RUNG(num_steps=steps), GRAPH), GRAPH.x, GRAPH.A, 3.0, 1 / 9)

    assert energy(10) < energy(1) < energy(0)


def test_an_edge_beyond_gamma_has_no_weight():
    assert torch.allclose(_smooth(RUNG(gamma=1e-6), GRAPH), GRAPH.x, rtol=1e-14)


def test_gradient_in_edge_weights_is_exact():
    check_edge_gradient(RUNG(epochs=5, hidden=8))


def test_edge_of_weight_zero_is_no_edge():
    check_no_edge(RUNG(epochs=5, hidden=8))


@pytest.mark.parametrize(
    "settings", [{"gamma": 0.0}, {"fidelity": 1.0}, {"fidelity": 0.0}, {"num_steps": -1}]
)
def test_settings_are_checked(settings):
    with pytest.raises(ValueError, match=f"RUNG: {next(iter(settings))} must"):
        RUNG(**settings)
