"""A polynomial of an operator equals the sum of its powers."""

import pytest
import torch

import gadc
from gadc import series
from tests.helpers import dense
from tests.helpers.graphs import random_graph

SERIES = {
    "neumann": series.neumann(4.0, 6),
    "ppr": series.ppr(0.2, 6),
    "appnp": series.appnp(0.2, 6),
    "sgc": series.sgc(3),
    "ssgc": series.ssgc(0.05, 6),
    "heat": series.heat(1.5, 6),
}


@pytest.mark.parametrize("name", SERIES)
def test_polynomial_equals_the_sum_of_powers(name: str):
    graph = random_graph(7, 9, 3)
    T = gadc.transition(*graph.args, variant="II")
    expected = dense.polynomial(T.to_dense(), graph.x, SERIES[name])
    torch.testing.assert_close(gadc.polynomial(T, graph.x, SERIES[name]), expected)
    as_tensor = torch.tensor(SERIES[name], dtype=torch.float64, requires_grad=True)
    learned = gadc.polynomial(T, graph.x, as_tensor, rtol=1e-3)
    torch.testing.assert_close(learned, expected)
    assert torch.autograd.grad(learned.sum(), as_tensor)[0].shape == as_tensor.shape


def test_polynomial_of_a_vector_is_a_vector():
    graph = random_graph(7, 9, 3)
    T = gadc.transition(*graph.args, variant="II")
    vector, theta = graph.x[:, 0], SERIES["neumann"]
    expected = gadc.polynomial(T, graph.x, theta)[:, 0]
    torch.testing.assert_close(gadc.polynomial(T, vector, theta), expected)
    assert gadc.polynomial(T, vector, theta, rtol=1e-3).shape == (7,)


def test_polynomial_without_gradients_takes_a_tensor_of_coefficients_as_numbers():
    graph = random_graph(7, 9, 3)
    T = gadc.transition(*graph.args, variant="II")
    theta = torch.tensor(SERIES["ppr"], dtype=torch.float64, requires_grad=True)
    with torch.no_grad():
        assert torch.equal(gadc.polynomial(T, graph.x, theta), gadc.polynomial(T, graph.x, SERIES["ppr"]))


@pytest.mark.parametrize("variant", ["plain", "II"])
def test_polynomial_with_gradients_equals_the_fused_one(variant: str):
    graph = random_graph(20, 40, 3)
    T = gadc.transition(*graph.args, variant=variant)
    recorded = gadc.polynomial(T, graph.x.clone().requires_grad_(), SERIES["neumann"])
    assert recorded.requires_grad
    torch.testing.assert_close(recorded.detach(), gadc.polynomial(T, graph.x, SERIES["neumann"]))


def test_polynomial_refuses_an_empty_series_and_other_types():
    T = gadc.transition(torch.eye(2), torch.tensor([[0], [1]]), variant="plain")
    with pytest.raises(ValueError, match="theta must have at least one coefficient, got none"):
        gadc.polynomial(T, torch.ones(2, 1), [])
    with pytest.raises(
        TypeError, match=r"x must be torch\.float32, the type of the operator, got torch\.int64"
    ):
        gadc.polynomial(T, torch.ones(2, 1, dtype=torch.int64), [1.0, 2.0, 3.0], rtol=0.1)
    with pytest.raises(TypeError, match=r"x must be a torch\.Tensor, got list"):
        gadc.polynomial(T, [[1.0], [2.0]], [1.0])
