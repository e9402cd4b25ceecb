"""The objectives of denoising and the worst perturbation, against dense forms."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc import theory
from tests.helpers import dense
from tests.helpers.graphs import Graph, graphs, random_graph

LAMBDAS = st.sampled_from([0.0, 0.5, 1.0, 32.0, 500.0])
RADII = st.sampled_from([0.0, 0.1, 1.0, 10.0])


@given(graphs(), LAMBDAS, RADII, st.integers(0, 99))
def test_objectives_equal_their_dense_forms(graph: Graph, lam: float, eps: float, seed: int):
    F = torch.randn(graph.x.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    expected = dense.agsd(F, graph.x, graph.A, lam, eps)
    torch.testing.assert_close(theory.agsd_objective(F, *graph.args, lam=lam, eps=eps), expected)
    torch.testing.assert_close(
        theory.gsd_objective(F, *graph.args, lam=lam), dense.agsd(F, graph.x, graph.A, lam, 0.0)
    )


@given(graphs(), st.integers(0, 99))
def test_worst_perturbation_attains_the_maximum(graph: Graph, seed: int):
    eps, n = 0.7, len(graph.x)
    delta = theory.worst_perturbation(graph.x, eps)
    torch.testing.assert_close(delta.to_dense().norm(), torch.tensor(eps, dtype=torch.float64))
    gram = graph.x @ graph.x.T
    attained = torch.trace(graph.x.T @ (delta @ graph.x))
    torch.testing.assert_close(attained, eps * gram.norm())
    rivals = torch.randn(50, n, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    rivals *= eps / rivals.flatten(1).norm(dim=1)[:, None, None]
    assert (rivals * gram).sum((1, 2)).max() <= attained + 1e-9


def test_objective_has_the_gradient_of_finite_differences():
    graph = random_graph(6, 8, 3, weighted=True)
    F = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    inputs = (F, graph.x.requires_grad_(), graph.edge_weight.requires_grad_())
    assert torch.autograd.gradcheck(
        lambda F, x, w: theory.agsd_objective(F, x, graph.edge_index, w, lam=3.0, eps=0.8), inputs
    )
    value = theory.agsd_objective(F, graph.x, graph.edge_index, graph.edge_weight, lam=3.0, eps=0.8)
    torch.testing.assert_close(
        torch.autograd.grad(value, F)[0],
        dense.agsd_gradient(F, graph.x, graph.A, 3.0, 0.8).detach(),
    )


def test_objective_refuses_another_shape():
    with pytest.raises(ValueError, match=r"F must have the shape of x, \(2, 1\), got \(2, 2\)"):
        theory.agsd_objective(torch.ones(2, 2), torch.ones(2, 1), torch.tensor([[0], [1]]), lam=1.0, eps=1.0)


@pytest.mark.parametrize("size", [1e25, 1e30])
def test_objectives_refuse_what_overflows(size):
    x = torch.tensor([[size], [-size]])
    with pytest.raises(ValueError, match="agsd_objective: the objective must be finite, got 1 NaN or inf"):
        theory.agsd_objective(x, 0 * x, torch.tensor([[0], [1]]), lam=1.0, eps=1.0)


def test_objective_counts_a_rounded_smoothness_below_zero_as_zero():
    x = torch.full((7, 3), 0.1)
    path = torch.stack([torch.arange(6), torch.arange(1, 7)])
    complete = torch.combinations(torch.arange(7)).T
    for edges in (path[:, :0], complete):
        F = x.clone().requires_grad_()
        value = theory.gsd_objective(F, x, edges, lam=1e6)
        assert value.item() >= 0
        assert torch.isfinite(torch.autograd.grad(value, F)[0]).all()


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_worst_perturbation_does_not_depend_on_the_unit(scale):
    F = torch.rand(5, 2)
    expected = theory.worst_perturbation(F, 0.5).to_dense()
    torch.testing.assert_close(theory.worst_perturbation(F * scale, 0.5).to_dense(), expected)
    with pytest.raises(ValueError, match=r"worst_perturbation: δ. must be finite"):
        theory.worst_perturbation(F, 1e300)
