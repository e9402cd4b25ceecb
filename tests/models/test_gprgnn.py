"""GPRGNN: the dense sum, the first coefficients, and what decays."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.models import GPRGNN
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs

FEW = {"epochs": 5, "hidden": 8}


@settings(max_examples=25)
@given(graphs(), st.integers(0, 6))
def test_forward_is_the_dense_sum(graph, num_steps):
    model = GPRGNN(num_steps=num_steps)
    torch.manual_seed(0)
    module = model.build(graph.x.shape[1], 3).double().eval()
    with torch.no_grad():
        module.weights.normal_()
        T, H = dense.normalized(graph.A, self_loops=1.0), module.mlp(graph.x)
        powers = [torch.linalg.matrix_power(T, k) for k in range(num_steps + 1)]
        expected = sum(weight * power @ H for weight, power in zip(module.weights, powers, strict=True))
        assert torch.allclose(module(graph.x, model.graph(*graph.args)), expected)


def test_weights_start_at_pagerank_and_do_not_decay():
    model = GPRGNN(alpha=0.5, num_steps=2)
    module = model.build(4, 3)
    assert module.weights.tolist() == pytest.approx([0.5, 0.25, 0.25])
    decayed, free = model.parameter_groups(module)
    assert free["params"] == [module.weights]
    assert free["weight_decay"] == 0.0
    assert len(list(decayed["params"])) == 4


def test_gradient_in_the_edge_weights():
    check_edge_gradient(GPRGNN(**FEW))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(GPRGNN(**FEW))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_steps": -1}, "GPRGNN: num_steps must be a whole number >= 0, got -1"),
        ({"alpha": 1.5}, r"alpha must lie in \[0, 1\], got 1.5"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        GPRGNN(**settings)
