"""IRLS: descent on its energy, robust weights, and what the published script runs instead."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.models import IRLS
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs, random_graph

GRAPH = random_graph(12, 25, 4, weighted=True)
EYE = torch.eye(12, dtype=torch.float64)
ROBUST = st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.floats(0.1, 2), st.sampled_from([None, 1.5]))


def _energy(Y, f, A, lam):
    L = A.sum(1).diag() - A
    return (Y - f).square().sum() + lam * torch.trace(Y.T @ L @ Y)


def _descend(model, graph):
    return model.propagate(graph.x, model.graph(*graph.args))


@settings(max_examples=25)
@given(graphs(), st.floats(0, 4), st.floats(0.1, 1), st.integers(0, 4))
def test_without_robust_edges_it_is_gradient_descent_on_the_energy(graph, lam, alpha, num_steps):
    Y = graph.x.clone()
    for _ in range(num_steps):
        Y = Y.detach().requires_grad_()
        [gradient] = torch.autograd.grad(_energy(Y, graph.x, graph.A, lam), Y)
        Y = Y - alpha / 2 * gradient / (lam * graph.A.sum(1, keepdim=True) + 1)
    found = _descend(IRLS(lam=lam, alpha=alpha, num_steps=num_steps, reweight=False), graph)
    assert torch.allclose(found, Y.detach())


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_without_robust_edges_it_converges_to_the_minimum(alpha):
    L = GRAPH.A.sum(1).diag() - GRAPH.A
    exact = torch.linalg.solve(EYE + 2 * L, GRAPH.x)
    found = _descend(IRLS(lam=2.0, alpha=alpha, num_steps=800, reweight=False), GRAPH)
    assert torch.allclose(found, exact)


def _gamma(Y, p, tau, cut):
    s = torch.cdist(Y, Y) ** (2 - p)
    gamma = 1 / s.clamp(min=tau)
    return gamma if cut is None else torch.where(s > cut, 0.0, gamma)


@settings(max_examples=25)
@given(graphs(), ROBUST, st.integers(0, 5), st.integers(1, 3))
def test_robust_descent_is_the_dense_formula(graph, robust, num_steps, every):
    p, tau, cut = robust
    A, Y = graph.A, graph.x
    for number in range(num_steps):
        if number % every == 0:
            A = graph.A * _gamma(Y, p, tau, cut)
        Y = (0.7 * A @ Y + graph.x) / (0.7 * A.sum(1, keepdim=True) + 1)
    model = IRLS(lam=0.7, num_steps=num_steps, every=every, p=p, tau=tau, cut=cut)
    assert torch.allclose(_descend(model, graph), Y)


def test_robust_descent_lowers_the_robust_energy():
    """With p = 1 the penalty of an edge is 2‖y_i - y_j‖, and its square over τ plus τ up to τ."""

    def energy(Y):
        distance = torch.cdist(Y, Y)
        penalty = torch.where(distance > 0.2, 2 * distance, distance.square() / 0.2 + 0.2)
        return float((Y - GRAPH.x).square().sum() + 0.5 * (GRAPH.A * penalty).sum())

    energies = [energy(_descend(IRLS(num_steps=K, every=1, tau=0.2), GRAPH)) for K in range(8)]
    assert energies == sorted(energies, reverse=True)
    assert energies[-1] < 0.9 * energies[0]


@settings(max_examples=25)
@given(graphs(), st.integers(0, 6), st.floats(0.1, 1), st.floats(0, 2))
def test_published_step_is_the_dense_formula(graph, num_steps, alpha, lam):
    S, degrees = dense.normalized(graph.A), graph.A.sum(1, keepdim=True)
    source = torch.where(degrees > 0, graph.x / degrees, 0.0)
    Y = graph.x
    for _ in range(num_steps):
        Y = (1 - alpha) * Y + alpha * lam * S @ Y + alpha * source
    model = IRLS(step="published", reweight=False, num_steps=num_steps, alpha=alpha, lam=lam)
    assert torch.allclose(_descend(model, graph), Y)


def test_layers_start_from_xavier_and_zero():
    torch.manual_seed(0)
    module = IRLS(num_layers=2, hidden=50).build(200, 7)
    assert [layer.weight.shape for layer in module.mlp.layers] == [(50, 200), (7, 50)]
    assert all(bool((layer.bias == 0).all()) for layer in module.mlp.layers)
    assert float(module.mlp.layers[0].weight.detach().std()) == pytest.approx((2 / 250) ** 0.5, rel=0.05)


@pytest.mark.parametrize(
    "settings", [{}, {"reweight": False}, {"reweight": False, "step": "published"}], ids=str
)
def test_edges(settings):
    model = IRLS(num_steps=4, every=2, epochs=5, **settings)
    check_edge_gradient(model)
    check_no_edge(model)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lam": -1.0}, "IRLS: lam must be finite and >= 0, got -1.0"),
        ({"alpha": 0.0}, "IRLS: alpha must be finite and > 0, got 0.0"),
        ({"num_steps": -1}, "IRLS: num_steps must be a whole number >= 0, got -1"),
        ({"step": "newton"}, "IRLS: step must be one of 'preconditioned', 'published', got 'newton'"),
        ({"step": "published"}, "IRLS: the published step has no robust edges, got reweight=True"),
        ({"every": 0}, "IRLS: every must be a whole number >= 1, got 0"),
        ({"p": 3.0}, r"IRLS: p must lie in \[0, 2\], got 3.0"),
        ({"tau": 0.0}, "IRLS: tau must be finite and > 0, got 0.0"),
        ({"cut": 0.0}, "IRLS: cut must be finite and > 0, got 0.0"),
        ({"num_layers": 0}, "IRLS: num_layers must be a whole number >= 1, got 0"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        IRLS(**settings)
