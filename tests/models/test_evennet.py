"""EvenNet: even hops only, against the dense sum."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gadc.models import EvenNet
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs

FEW = {"epochs": 5, "hidden": 8}


def _build(model, width):
    torch.manual_seed(0)
    module = model.build(width, 3).double().eval()
    with torch.no_grad():
        module.weights.normal_()
    return module


@settings(max_examples=25)
@given(graphs(), st.integers(0, 7))
def test_forward_is_the_dense_sum(graph, num_steps):
    model = EvenNet(num_steps=num_steps)
    module = _build(model, graph.x.shape[1])
    P = dense.normalized(graph.A, self_loops=0.0)
    with torch.no_grad():
        H = module.mlp(graph.x)
        found = module(graph.x, model.graph(*graph.args))
        powers = [torch.linalg.matrix_power(P, 2 * k) for k in range(num_steps // 2 + 1)]
        expected = sum(weight * power @ H for weight, power in zip(module.weights, powers, strict=True))
    assert torch.allclose(found, expected)


def test_nodes_an_odd_number_of_hops_away_are_not_seen():
    """In a graph with two sides, features of one side do not reach the other."""
    left, right = torch.arange(4), torch.arange(4, 9)
    edge_index = torch.cartesian_prod(left, right).T
    x = torch.randn(9, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    other = x.clone()
    other[right] += 1.0
    model = EvenNet()
    module = _build(model, 5)
    with torch.no_grad():
        before, after = (module(y, model.graph(y, edge_index, None)) for y in (x, other))
    assert torch.equal(before[left], after[left])
    assert not torch.allclose(before[right], after[right])


def test_weights_start_at_pagerank_and_do_not_decay():
    model = EvenNet(alpha=0.5, num_steps=5)
    module = model.build(4, 3)
    assert module.weights.tolist() == pytest.approx([0.5, 0.125, 0.03125])
    decayed, free = model.parameter_groups(module)
    assert free["params"] == [module.weights]
    assert free["weight_decay"] == 0.0
    assert len(list(decayed["params"])) == 4


def test_gradient_in_the_edge_weights():
    check_edge_gradient(EvenNet(**FEW, alpha=0.3))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(EvenNet(**FEW))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_steps": -1}, "EvenNet: num_steps must be a whole number >= 0, got -1"),
        ({"alpha": 1.5}, r"alpha must lie in \[0, 1\], got 1.5"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        EvenNet(**settings)
