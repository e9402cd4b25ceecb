"""APPNP against the dense iteration, its limit, and PyTorch Geometric's layer."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric import nn as pyg
from torch_geometric.utils import to_undirected

from gadc.models import APPNP
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.tiny import tiny_data

GRAPH = random_graph(12, 25, 4, weighted=True)


def _module(model, in_features):
    torch.manual_seed(0)
    return model.build(in_features, 3).double().eval()


@settings(max_examples=25)
@given(graphs(), st.floats(0, 1), st.integers(0, 6))
def test_forward_is_the_dense_iteration(graph, alpha, num_steps):
    model = APPNP(alpha=alpha, num_steps=num_steps)
    module = _module(model, graph.x.shape[1])
    S, H = dense.normalized(graph.A), module.mlp(graph.x)
    Z = H
    for _ in range(num_steps):
        Z = (1 - alpha) * S @ Z + alpha * H
    assert torch.allclose(module(graph.x, model.graph(*graph.args)), Z)


def test_many_steps_solve_for_personalised_pagerank():
    model = APPNP(alpha=0.2, num_steps=200)
    module = _module(model, 4)
    S, H = dense.normalized(GRAPH.A), module.mlp(GRAPH.x)
    exact = torch.linalg.solve(torch.eye(12, dtype=torch.float64) - 0.8 * S, 0.2 * H)
    assert torch.allclose(module(GRAPH.x, model.graph(*GRAPH.args)), exact)


def test_propagation_is_that_of_pyg():
    model = APPNP(alpha=0.3, num_steps=4)
    module = _module(model, 4)
    edges = to_undirected(GRAPH.edge_index, GRAPH.edge_weight, num_nodes=12)
    expected = pyg.APPNP(4, 0.3)(module.mlp(GRAPH.x), *edges)
    assert torch.allclose(module(GRAPH.x, model.graph(*GRAPH.args)), expected)


@pytest.mark.parametrize("edge_dropout", [0.0, 0.5])
def test_dropped_edges_leave_the_mean(edge_dropout):
    model = APPNP(alpha=0.3, num_steps=2, dropout=0.0, edge_dropout=edge_dropout)
    module, graph = _module(model, 4), model.graph(*GRAPH.args)
    with torch.no_grad():
        expected = module(GRAPH.x, graph)
        module.train()
        drawn = torch.stack([module(GRAPH.x, graph) for _ in range(2000)])
    assert (float(drawn.std(0).max()) > 0.01) == (edge_dropout > 0)
    # Steps draw anew, so the expectation goes through the product; the mean of 2000 errs by std/45.
    assert float((drawn.mean(0) - expected).abs().max()) <= 5 * float(drawn.std(0).max()) / 44 + 1e-12


def test_weight_decay_is_a_penalty_on_the_first_layer():
    model = APPNP(weight_decay=0.3)
    module = model.build(4, 3)
    first, rest = model.parameter_groups(module)
    assert {id(one) for one in first["params"]} == {id(one) for one in module.mlp.layers[0].parameters()}
    assert {id(one) for one in rest["params"]} == {id(one) for one in module.mlp.layers[1].parameters()}
    assert rest["weight_decay"] == 0.0
    strong, weak = (
        APPNP(weight_decay=decay, epochs=200, patience=None, lr=0.05, selection="last").fit(
            tiny_data(), seed=1
        )
        for decay in (1.0, 0.0)
    )
    norms = [float(fitted.module.mlp.layers[0].weight.detach().norm()) for fitted in (strong, weak)]
    assert norms[0] < 0.2 * norms[1]


def test_gradient_in_the_edge_weights():
    check_edge_gradient(APPNP(epochs=5, hidden=8))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(APPNP(epochs=5, hidden=8))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 1.5}, r"alpha must lie in \[0, 1\], got 1.5"),
        ({"num_steps": -1}, "num_steps must be a whole number >= 0, got -1"),
        ({"edge_dropout": 1.0}, r"APPNP: edge_dropout must lie in \[0, 1\), got 1.0"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        APPNP(**settings)
