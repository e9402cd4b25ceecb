"""GCN against the dense formula and PyTorch Geometric's layer."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import GCNConv
from torch_geometric.utils import to_undirected

from gadc.models import GCN
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.tiny import tiny_data

FEW = {"epochs": 5, "hidden": 8}


def _scores(model, graph, num_classes=3):
    torch.manual_seed(0)
    module = model.build(graph.x.shape[1], num_classes).double().eval()
    return module, module(graph.x, model.graph(*graph.args)).detach()


@settings(max_examples=25)
@given(graphs(), st.sampled_from(["relu", "none"]), st.integers(1, 3))
def test_forward_is_the_dense_formula(graph, activation, num_layers):
    model = GCN(activation=activation, num_layers=num_layers, init="uniform")
    module, found = _scores(model, graph)
    S, x = dense.normalized(graph.A), graph.x
    for number, layer in enumerate(module.layers):
        if number > 0 and activation == "relu":
            x = x.clamp(min=0)
        x = S @ x @ layer.weight.T + layer.bias
    assert torch.allclose(found, x.detach())


def test_layers_are_those_of_pyg():
    graph = random_graph(12, 25, 4, weighted=True)
    module, found = _scores(GCN(init="uniform"), graph)
    edge_index, weight = to_undirected(graph.edge_index, graph.edge_weight, num_nodes=12)
    x = graph.x
    for number, layer in enumerate(module.layers):
        conv = GCNConv(layer.in_features, layer.out_features).double()
        conv.lin.weight, conv.bias = layer.weight, layer.bias
        x = conv(torch.relu(x) if number > 0 else x, edge_index, weight)
    assert torch.allclose(found, x.detach())


def test_default_initialisation():
    torch.manual_seed(0)
    module = GCN().build(100, 5)
    assert all(bool((layer.bias == 0).all()) for layer in module.layers)
    bound = (6 / 116) ** 0.5
    assert 0.9 * bound < float(module.layers[0].weight.detach().abs().max()) <= bound


@pytest.mark.parametrize(("init", "mean"), [("uniform", 0.0), ("shifted", -0.25)])
def test_named_initialisations(init, mean):
    torch.manual_seed(0)
    weight = GCN(init=init).build(400, 5).layers[0].weight.detach()
    assert float(weight.mean()) == pytest.approx(mean, abs=0.02)


def test_input_dropout_can_be_left_out():
    graph = random_graph(12, 25, 4)
    one = GCN(num_layers=1, dropout=0.5, input_dropout=False)
    module, expected = _scores(one, graph)
    assert torch.equal(module.train()(graph.x, one.graph(*graph.args)), expected)
    both = GCN(num_layers=1, dropout=0.5)
    module, expected = _scores(both, graph)
    assert not torch.equal(module.train()(graph.x, both.graph(*graph.args)), expected)


def test_gradient_in_the_edge_weights():
    check_edge_gradient(GCN(**FEW, normalize="l1"))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(GCN(**FEW))


def test_it_learns():
    fitted = GCN(epochs=100, lr=0.05, dropout=0.0).fit(tiny_data(), seed=1)
    assert fitted.trained.train_losses[-1] < 0.5 * fitted.trained.train_losses[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_layers": 0}, "GCN: num_layers must be a whole number >= 1, got 0"),
        ({"activation": "tanh"}, "GCN: activation must be one of 'relu', 'none', got 'tanh'"),
        ({"init": "zero"}, "GCN: init must be one of .*, got 'zero'"),
        ({"dropout": 1.0}, r"GCN: dropout must lie in \[0, 1\), got 1.0"),
        ({"hidden": 0}, "GCN: hidden must be a whole number >= 1, got 0"),
        ({"normalize": "max"}, "GCN: normalize must be one of .*, got 'max'"),
        ({"patience": 0}, "patience must be a whole number >= 1, got 0"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        GCN(**settings)
