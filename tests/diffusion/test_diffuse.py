"""Diffusion in one call equals the dense series, is differentiable, and warns where the series diverges."""

import warnings

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gadc
from gadc.diffusion import VARIANTS
from tests.helpers import dense
from tests.helpers.graphs import Graph, graphs, random_graph

NAMES = list(VARIANTS)


@given(graphs(), st.sampled_from(NAMES), st.sampled_from([0.0, 1.0, 32.0]), st.integers(0, 6))
def test_diffuse_equals_the_dense_series(graph: Graph, variant: str, lam: float, num_steps: int):
    actual = gadc.diffuse(*graph.args, variant=variant, lam=lam, num_steps=num_steps, check_convergence=False)
    T = dense.transition(graph.x, graph.A, variant)
    torch.testing.assert_close(actual, dense.diffusion_matrix(T, lam, num_steps) @ graph.x)


@given(graphs(), st.sampled_from(["plain", "II"]))
def test_diffuse_with_many_steps_equals_the_linear_solve(graph: Graph, variant: str):
    lam, eps = 2.0, 0.3  # λ/(λ+1) (1+ε) < 1, so the series converges
    actual = gadc.diffuse(*graph.args, variant=variant, lam=lam, eps=eps, num_steps=200)
    T = dense.transition(graph.x, graph.A, variant, eps=eps)
    eye = torch.eye(len(T), dtype=T.dtype)
    torch.testing.assert_close(actual, torch.linalg.solve(eye + lam * (eye - T), graph.x))


@pytest.mark.parametrize("variant", NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_diffuse_has_gradients_in_features_and_weights(variant: str, weighted: bool):
    graph = random_graph(6, 8, 3, weighted=True)
    weight = graph.edge_weight.requires_grad_() if weighted else None
    x = graph.x.requires_grad_()

    def run(x, weight=None):
        return gadc.diffuse(
            x,
            graph.edge_index,
            weight,
            variant=variant,
            lam=2.0,
            num_steps=3,
            eps=0.5,
            check_convergence=False,
        )

    inputs = (x, weight) if weighted else (x,)
    assert torch.autograd.gradcheck(run, inputs)
    assert torch.autograd.gradgradcheck(run, inputs)


def test_diffuse_takes_other_features_for_the_transition():
    graph = random_graph(6, 8, 3)
    other = torch.randn(6, 4, dtype=torch.float64)
    F = gadc.diffuse(graph.x, graph.edge_index, variant="II", phi_x=other, lam=1.0, num_steps=5)
    T = dense.transition(other, graph.A, "II")
    torch.testing.assert_close(F, dense.diffusion_matrix(T, 1.0, 5) @ graph.x)
    with pytest.raises(ValueError, match="phi_x must have the 6 rows of x, got 5"):
        gadc.diffuse(graph.x, graph.edge_index, phi_x=other[:5])


def test_diffuse_warns_of_divergence_with_both_factors():
    graph = random_graph(12, 40, 2)
    with pytest.warns(gadc.DivergentSeriesWarning, match=r"λ/\(λ\+1\) · ρ\(T\) = 0\.9697 · \d.*lam < "):
        gadc.diffuse(graph.x.abs(), graph.edge_index, variant="IV", lam=32.0)


@pytest.mark.parametrize("variant", ["plain", "II", "III"])
def test_diffuse_is_silent_where_the_series_converges(variant: str):
    graph = random_graph(12, 20, 2)
    with warnings.catch_warnings(record=True) as announced:
        warnings.simplefilter("always")
        gadc.diffuse(*graph.args, variant=variant, lam=1.0, eps=0.5)
    assert not announced
