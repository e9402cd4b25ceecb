"""GAT against the dense formula and PyTorch Geometric's layer."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import elu, leaky_relu
from torch_geometric.nn import GATConv
from torch_geometric.utils import to_undirected

from gadc.models import GAT
from gadc.models._gat import Attention
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.tiny import tiny_data


def _layer(in_features, units, heads):
    torch.manual_seed(0)
    layer = Attention(in_features, units, heads, dropout=0.5).double().eval()
    torch.nn.init.normal_(layer.bias)
    return layer


def _dense(layer, x, A):
    """Weighted softmax over all pairs, a head at a time."""
    weights = A + torch.eye(len(A), dtype=A.dtype)
    mapped = (x @ layer.linear.weight.T).view(len(x), *layer.bias.shape)
    heads = []
    for head in range(mapped.shape[1]):
        receive, send = (mapped[:, head] @ layer.attention[:, head].T).unbind(1)
        shares = weights * leaky_relu(receive[:, None] + send[None, :], 0.2).exp()
        heads.append(shares / shares.sum(1, keepdim=True) @ mapped[:, head] + layer.bias[head])
    return torch.stack(heads, 1)


@settings(max_examples=25)
@given(graphs(), st.integers(1, 3))
def test_attention_is_the_dense_formula(graph, heads):
    layer = _layer(graph.x.shape[1], 3, heads)
    found = layer(graph.x, GAT().graph(*graph.args))
    assert torch.allclose(found, _dense(layer, graph.x, graph.A))


@pytest.mark.parametrize("output_heads", [1, 2])
@pytest.mark.parametrize("elu_scale", [1.0, 0.2])
def test_network_is_made_of_the_layers_of_pyg(output_heads, elu_scale):
    graph = random_graph(12, 25, 4)
    model = GAT(heads=3, hidden=5, output_heads=output_heads, elu_scale=elu_scale)
    torch.manual_seed(0)
    module = model.build(4, 2).double().eval()
    edge_index, x = to_undirected(graph.edge_index), graph.x
    for layer, concat in ((module.first, True), (module.second, False)):
        _, heads, units = layer.attention.shape
        conv = GATConv(x.shape[1], units, heads=heads, concat=concat, bias=False).double()
        conv.lin.weight = layer.linear.weight
        conv.att_dst.data, conv.att_src.data = layer.attention.detach().unsqueeze(1)
        x = conv(x, edge_index)
        x = elu(x, alpha=elu_scale) if concat else x
    assert torch.allclose(module(graph.x, model.graph(*graph.args)), x)


def test_large_scores_do_not_overflow():
    graph = random_graph(12, 25, 4)
    out = _layer(4, 3, 2)(1e6 * graph.x, GAT().graph(*graph.args))
    assert bool(torch.isfinite(out).all())


def test_dropout_acts_on_the_attention():
    """The features alone would leave rows of the identity as they are, up to the factor 2."""
    graph = GAT().graph(torch.ones(1, 1).double(), torch.zeros(2, 0, dtype=torch.int64), None)
    layer = _layer(1, 4, 400).train()
    with torch.no_grad():
        layer.bias.zero_()
        layer.linear.weight.fill_(1.0)
    x = torch.full((1, 1), 1.0, dtype=torch.float64)
    outs = torch.cat([layer(x, graph).flatten() for _ in range(4)])
    assert set(outs.tolist()) == {0.0, 4.0}  # each of the two dropouts doubles what it keeps


def test_gradient_in_the_edge_weights():
    check_edge_gradient(GAT(epochs=5, heads=2, hidden=3))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(GAT(epochs=5, heads=2, hidden=3))


def test_it_learns():
    fitted = GAT(epochs=100, lr=0.05, dropout=0.0, heads=2, patience=None).fit(tiny_data(), seed=1)
    assert fitted.trained.train_losses[-1] < 0.5 * fitted.trained.train_losses[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"heads": 0}, "GAT: heads must be a whole number >= 1, got 0"),
        ({"output_heads": 0}, "GAT: output_heads must be a whole number >= 1, got 0"),
        ({"elu_scale": 0.0}, "GAT: elu_scale must be finite and > 0, got 0.0"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        GAT(**settings)
