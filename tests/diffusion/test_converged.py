"""The whole series against the dense inverse, and bounds that hold."""

import pytest
import torch

import gadc
from gadc.diffusion import _converged as module
from gadc.diffusion import converged
from tests.helpers.graphs import random_graph

CONVERGENT = ["plain", "I", "II", "III"]


def inverse(T, x, lam):
    n = len(x)
    return torch.linalg.solve(
        (1 + lam) * torch.eye(n, dtype=torch.float64) - lam * T.to_dense().double(), x.double()
    )


@pytest.mark.parametrize(
    ("variant", "norm"),
    [*((name, "sym") for name in (*CONVERGENT, "IV+")), *((name, "rw") for name in ("plain", "III", "IV+"))],
)
def test_converged_series_equals_the_dense_inverse(variant: str, norm: str):
    graph = random_graph(30, 60, 5, weighted=True)
    T = gadc.transition(*graph.args, variant=variant, norm=norm, eps=0.05)
    expected = inverse(T, graph.x, 8.0)
    found = converged(T, graph.x, 8.0, rtol=1e-10)
    torch.testing.assert_close(found.features, expected, rtol=1e-8, atol=1e-10)
    largest = (found.features - expected).norm() if T.symmetric else (found.features - expected).abs().max()
    assert largest <= found.error_bound <= 1e-9 * expected.norm()


@pytest.mark.parametrize("eps", [0.3, 1.0])
def test_closed_form_takes_plain_hops_and_equals_the_iteration(monkeypatch, eps: float):
    graph = random_graph(40, 60, 4)
    T = gadc.transition(*graph.args, variant="II", eps=eps)
    lam = 0.9 / eps
    found = converged(T, graph.x, lam, rtol=1e-9)
    torch.testing.assert_close(found.features, inverse(T, graph.x, lam), rtol=1e-8, atol=1e-10)
    monkeypatch.setattr(module._Solver, "_has_closed_form", lambda self: False)
    other = converged(T, graph.x, lam, rtol=1e-9)
    torch.testing.assert_close(found.features, other.features, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("variant", ["plain", "II", "IV+"])
@pytest.mark.parametrize("rtol", [1e-2, 1e-9])
def test_error_bound_holds_in_float32_even_where_rounding_forbids_rtol(variant: str, rtol: float):
    graph = random_graph(60, 200, 6)
    x = graph.x.float()
    T = gadc.transition(x, graph.edge_index, variant=variant, eps=0.2)
    found = converged(T, x, 4.0, rtol)
    error = found.features - inverse(T, x, 4.0)
    assert float(error.norm() if T.symmetric else error.abs().max()) <= found.error_bound
    if rtol == 1e-2:
        assert found.error_bound <= rtol * (
            found.features.norm() if T.symmetric else found.features.abs().max()
        )


def test_diffuse_without_a_number_of_steps_is_the_limit_of_many_steps():
    graph = random_graph(30, 60, 5)
    for variant in CONVERGENT:
        settings = {"variant": variant, "lam": 2.0, "eps": 0.2}
        limit = gadc.diffuse(*graph.args, num_steps=None, rtol=1e-10, **settings)
        torch.testing.assert_close(limit, gadc.diffuse(*graph.args, num_steps=300, **settings))
    assert torch.equal(gadc.diffuse(*graph.args, num_steps=None, lam=0.0), graph.x)


def test_converged_needs_far_fewer_products_than_the_series_has_terms():
    graph = random_graph(200, 500, 3)
    T = gadc.transition(*graph.args, variant="plain")
    assert converged(T, graph.x, 32.0, rtol=1e-6).num_products < 150  # the series takes 449 for it


def test_converged_refuses_a_series_that_diverges():
    x = torch.ones(30, 2, dtype=torch.float64)
    edges = torch.combinations(torch.arange(30)).T
    with pytest.raises(ValueError, match=r"converged: λ/\(λ\+1\) ρ\(T\) must be below 1 .* got 28.1"):
        gadc.diffuse(x, edges, variant="IV", num_steps=None, lam=32.0)


def test_converged_refuses_gradients_and_what_it_cannot_bound():
    graph = random_graph(10, 20, 3)
    with pytest.raises(ValueError, match="converged: the converged series has no gradient"):
        gadc.diffuse(graph.x.requires_grad_(), graph.edge_index, variant="plain", num_steps=None)
    T = gadc.transition(graph.x.detach(), graph.edge_index, variant="II", norm="rw")
    with pytest.raises(ValueError, match="can be bounded only for"):
        converged(T, graph.x.detach(), 32.0)


def test_converged_series_of_a_directed_graph_whose_spectrum_is_not_real():
    cycle = torch.tensor([range(30), [*range(1, 30), 0]])
    x = torch.eye(30, dtype=torch.float64)[:, :3]
    T = gadc.transition(x, cycle, variant="plain", norm="rw", self_loops=0.0, directed=True)
    found = converged(T, x, 8.0)
    assert float((found.features - inverse(T, x, 8.0)).abs().max()) <= found.error_bound <= 1e-6
