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


RING = torch.stack([torch.arange(30), (torch.arange(30) + 1) % 30])


@pytest.mark.parametrize(
    ("settings", "size", "message"),
    [
        ({"variant": "II", "eps": 1e40}, 1.0, "GlobalGram: the low-rank part of T must be finite"),
        ({"variant": "I", "eps": 1e30}, 1.0, "diffuse: F = S X must be finite.*take a smaller eps"),
        ({"variant": "IV"}, 1e30, "diffuse: F = S X must be finite.*smaller edge weights"),
        ({"variant": "IV", "rtol": 1e-3}, 1e30, "diffuse: F = S X must be finite"),
        ({"variant": "plain", "self_loops": 1e40}, 1.0, r"Plain: self_loops must fit into torch.float32"),
    ],
)
@pytest.mark.filterwarnings("ignore::gadc.DivergentSeriesWarning")
def test_diffuse_refuses_a_result_that_overflowed(settings, size, message):
    x = torch.rand(30, 3)
    with pytest.raises(ValueError, match=message):
        gadc.diffuse(x, RING, torch.full((30,), size), **settings)


def test_diffuse_bears_a_ratio_that_is_rounded_to_one():
    """λ/(λ+1) is 1 in floating point, and the bound of ρ(T) is 1 as well: the series converges slowly."""
    x = torch.rand(30, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F = gadc.diffuse(x, RING, variant="plain", lam=1e20, num_steps=3)
        gadc.diffuse(x, RING[:, :0], variant="IV", self_loops=1.0, lam=1e20, num_steps=3)
    assert torch.isfinite(F).all()


@pytest.mark.parametrize("scale", [1e-40, 1e-30, 1e30, 1e36])
@pytest.mark.parametrize("rtol", [None, 1e-3])
@pytest.mark.parametrize("variant", NAMES)
def test_diffuse_scales_with_the_unit_of_the_features(variant, rtol, scale):
    """No variant depends on the unit of X, so F does as X does, whatever squares overflow."""
    x = 0.5 + 0.5 * torch.rand(60, 40, generator=torch.Generator().manual_seed(0))
    settings = {"variant": variant, "lam": 1.0, "num_steps": 8, "rtol": rtol, "check_convergence": False}
    edges = torch.cat([RING, RING + 30], 1)
    scaled = x.double() * scale
    expected = gadc.diffuse(x, edges, eps=0.3, **settings)
    actual = gadc.diffuse(scaled.float(), edges, eps=0.3, **settings).double() / scale
    error = (actual - expected).norm() / expected.norm()
    assert error <= (2e-3 if rtol or scale < 1e-38 else 1e-5)  # below 1e-38, float32 has fewer digits


def test_diffuse_refuses_weights_that_do_not_fit_the_features():
    weights = torch.full((30,), 1e300, dtype=torch.float64)
    with pytest.raises(
        ValueError, match=r"edge_weight must fit into torch.float32.*got values up to 1e\+300"
    ):
        gadc.diffuse(torch.rand(30, 2), RING, weights, variant="plain")
