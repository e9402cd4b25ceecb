"""S²GC against the dense sum and PyTorch Geometric's layer."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import SSGConv
from torch_geometric.utils import to_undirected

from gadc.models import S2GC
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs
from tests.helpers.tiny import tiny_data


@settings(max_examples=25)
@given(graphs(), st.floats(0, 1), st.integers(1, 6))
def test_aggregation_is_the_dense_sum(graph, alpha, num_steps):
    S = dense.normalized(graph.A)
    powers = [torch.linalg.matrix_power(S, k) @ graph.x for k in range(1, num_steps + 1)]
    found = S2GC(alpha=alpha, num_steps=num_steps).aggregate(*graph.args)
    assert torch.allclose(found, alpha * graph.x + (1 - alpha) / num_steps * sum(powers))


def test_scores_are_those_of_the_layer_of_pyg():
    data = tiny_data(dtype=torch.float64)
    fitted = S2GC(alpha=0.2, num_steps=4, epochs=5).fit(data, seed=1)
    conv = SSGConv(6, 3, alpha=0.2, K=4).double()
    [layer] = fitted.module.layers
    conv.lin.weight, conv.lin.bias = layer.weight, layer.bias
    edges = to_undirected(data.edge_index, data.edge_weight, num_nodes=30)
    assert torch.allclose(fitted.logits, conv(data.x, *edges).detach())


def test_gradient_in_the_edge_weights():
    check_edge_gradient(S2GC(epochs=5, normalize="l1"))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(S2GC(epochs=5))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": -0.1}, r"alpha must lie in \[0, 1\], got -0.1"),
        ({"num_steps": 0}, "num_steps must be a whole number >= 1, got 0"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        S2GC(**settings)
