"""Elastic GNN: its incidence, its projection, the minimiser it tends to, and its limits."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.models import ElasticGNN
from gadc.models._elastic import Incidence
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs, random_graph

GRAPH = random_graph(10, 18, 3, weighted=True)
H = torch.randn(10, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def _laplacian(graph):
    return torch.eye(len(graph.x), dtype=torch.float64) - dense.normalized(graph.A)


@settings(max_examples=25)
@given(graphs())
def test_incidence_is_a_root_of_the_laplacian(graph):
    """Δᵀ (w ⊙ Δ) = I - Â."""
    incidence = Incidence(ElasticGNN().graph(*graph.args))
    unit = torch.eye(len(graph.x), dtype=torch.float64)
    assert torch.allclose(incidence.adjoint(incidence(unit)), _laplacian(graph))


@given(st.integers(0, 2**16), st.floats(0, 3), st.sampled_from(["l21", "l1"]))
def test_projection_is_the_nearest_point_of_the_ball(seed, radius, norm):
    z = torch.randn(6, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    z[0] = 0.0
    found = ElasticGNN(lam1=radius, norm=norm).project(z)
    if norm == "l1":
        expected = z.clip(-radius, radius)
    else:
        norms = z.norm(dim=1, keepdim=True)
        expected = torch.where(norms > radius, z / norms * radius, z)
        assert float(found.norm(dim=1).max()) <= radius + 1e-12
    assert torch.allclose(found, expected)


def _objective(F, graph, model):
    A_tilde = graph.A + torch.eye(len(F), dtype=F.dtype)
    scaled = F / A_tilde.sum(1, keepdim=True).sqrt()
    i, j = graph.A.triu().nonzero(as_tuple=True)
    jumps = (scaled[i] - scaled[j]).norm(dim=1, p=2 if model.norm == "l21" else 1)
    smooth = torch.trace(F.T @ _laplacian(graph) @ F)
    return (F - H).square().sum() / 2 + model.lam2 / 2 * smooth + model.lam1 * (graph.A[i, j] * jumps).sum()


@pytest.mark.parametrize("norm", ["l21", "l1"])
@pytest.mark.parametrize(("lam1", "lam2"), [(0.3, 0.5), (2.0, 0.0), (0.1, 3.0)])
def test_it_tends_to_the_minimiser(norm, lam1, lam2):
    """The objective is strongly convex: F is the minimiser if no small step from it goes down."""
    model = ElasticGNN(lam1=lam1, lam2=lam2, norm=norm, num_steps=1000)
    F = model.descend(H, model.graph(*GRAPH.args))
    lowest = float(_objective(F, GRAPH, model))
    generator = torch.Generator().manual_seed(0)
    for _ in range(50):
        step = torch.randn(F.shape, generator=generator, dtype=torch.float64)
        # Strong convexity lifts the objective by at least half the square of the step.
        size = 10 ** float(torch.empty(()).uniform_(-4, 0, generator=generator))
        step = step / step.norm() * size
        assert float(_objective(F + step, GRAPH, model)) >= lowest + size**2 / 2 - 1e-9
    assert lowest < float(_objective(H, GRAPH, model))


def test_without_jumps_it_is_ridge_smoothing():
    """λ₁ = 0: K steps of F <- γ H + (1-γ) Â F, which tend to (I + λ₂ L̃)^-1 H."""
    found = ElasticGNN(lam1=0.0, lam2=3.0, num_steps=200)
    graph = found.graph(*GRAPH.args)
    exact = torch.linalg.solve(torch.eye(10, dtype=torch.float64) + 3 * _laplacian(GRAPH), H)
    assert torch.allclose(found.descend(H, graph), exact)
    S, F = dense.normalized(GRAPH.A), H
    for _ in range(4):
        F = H / 4 + 0.75 * S @ F
    assert torch.allclose(ElasticGNN(lam1=0.0, lam2=3.0, num_steps=4).descend(H, graph), F)


def test_forward_is_the_iteration_on_the_predictions():
    model = ElasticGNN(num_steps=3)
    torch.manual_seed(0)
    module = model.build(3, 4).double().eval()
    graph = model.graph(*GRAPH.args)
    with torch.no_grad():
        assert torch.equal(module(GRAPH.x, graph), model.descend(module.mlp(GRAPH.x), graph))


@pytest.mark.parametrize("norm", ["l21", "l1"])
def test_gradient_in_the_edge_weights(norm):
    check_edge_gradient(ElasticGNN(epochs=5, hidden=8, lam1=0.05, norm=norm))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(ElasticGNN(epochs=5, hidden=8))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lam1": -1.0}, "ElasticGNN: lam1 must be finite and >= 0, got -1.0"),
        ({"num_steps": -1}, "ElasticGNN: num_steps must be a whole number >= 0, got -1"),
        ({"norm": "l2"}, "ElasticGNN: norm must be one of 'l21', 'l1', got 'l2'"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        ElasticGNN(**settings)
