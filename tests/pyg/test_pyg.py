"""PyTorch Geometric: the transform, the layer and the network are the library's own diffusion."""

import copy
import warnings

import pytest
import torch
import torch_geometric.transforms as T  # noqa: N812
from hypothesis import given, settings
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import GCNConv, SimpleConv
from torch_geometric.utils import to_undirected

import gadc
from gadc.diffusion import VARIANTS
from gadc.pyg._pyg import GADC, GADCConv, GADCNet
from tests.helpers.graphs import graphs, random_graph

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=".*contrib.* contains experimental code")
    from torch_geometric.contrib.nn import PRBCDAttack

NAMES = list(VARIANTS)
SHORT = {"lam": 0.3, "num_steps": 4, "eps": 0.5}


def _data(weighted=True, seed=0):
    graph = random_graph(12, 20, 4, weighted=weighted, seed=seed)
    return Data(x=graph.x, edge_index=graph.edge_index, edge_weight=graph.edge_weight)


@pytest.mark.parametrize("variant", NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_features(variant, weighted):
    data = _data(weighted)
    before = data.x.clone()
    out = GADC(variant, **SHORT)(data)
    expected = gadc.diffuse(data.x, data.edge_index, data.edge_weight, variant=variant, **SHORT)
    torch.testing.assert_close(out.x, expected, rtol=0, atol=0)
    assert torch.equal(data.x, before)
    assert out.edge_index is data.edge_index


@settings(max_examples=30)
@given(graphs())
def test_edges_are_the_transition(graph):
    data = Data(x=graph.x, edge_index=graph.edge_index, num_nodes=len(graph.x))
    if graph.edge_weight is not None:
        data.edge_weight = graph.edge_weight
    for variant in ("plain", "I", "III", "IV"):
        for directed in (False, True):
            out = GADC(variant, eps=0.5, output="edges", directed=directed)(data)
            operator = gadc.transition(*graph.args, variant=variant, eps=0.5, directed=directed)
            # One message-passing step, from source to target, is T @ X.
            step = SimpleConv()(graph.x, out.edge_index, out.edge_weight)
            torch.testing.assert_close(step, operator @ graph.x)
            assert (out.edge_weight != 0).all()


def test_any_gnn_trains_on_the_edges():
    data = _data(weighted=False)
    data.edge_attr = torch.ones(data.num_edges, 3)
    data.y = torch.arange(12) % 2
    out = T.Compose([T.NormalizeFeatures(), T.ToUndirected(), GADC("IV", output="edges")])(data)
    assert "edge_attr" not in out
    assert "edge_attr" in data
    assert out.validate()
    torch.manual_seed(0)
    layer = GCNConv(4, 2, normalize=False, add_self_loops=False).double()
    loss = torch.nn.functional.cross_entropy(layer(out.x, out.edge_index, out.edge_weight), out.y)
    loss.backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in layer.parameters())


def test_compose_and_repr():
    data = _data(weighted=False)
    out = T.Compose([T.ToUndirected(), GADC("III", **SHORT)])(data)
    expected = gadc.diffuse(data.x, data.edge_index, variant="III", **SHORT)
    torch.testing.assert_close(out.x, expected)
    assert "EdgeGram" in repr(GADC("III"))
    assert "GlobalGram" in repr(GADCConv(2, 3))


def test_bad_input():
    data, dense = _data(), gadc.diffusion.GlobalGram()
    for error, call, message in [
        (ValueError, lambda: GADC("II", output="edges"), 'needs a sparse T .*, got variant "II"'),
        (ValueError, lambda: GADC(dense, output="edges")(data), "got one with a low-rank"),
        (ValueError, lambda: GADC(output="nodes"), "output must be one of 'features', 'edges', got 'nodes'"),
        (ValueError, lambda: GADC("V"), "variant must be one of plain"),
        (ValueError, lambda: GADC(lam=-1), "lam must be finite"),
        (TypeError, lambda: GADC("II", phi_norm="edges"), "phi_norm"),
        (ValueError, lambda: GADC()(Data(edge_index=data.edge_index)), "data must have x"),
        (ValueError, lambda: GADC()(Data(x=data.x)), "data must have edge_index"),
        (TypeError, lambda: GADC()(HeteroData()), "must be a torch_geometric.data.Data, got HeteroData"),
        (ValueError, lambda: GADCConv(3, 2)(data.x, data.edge_index), "x must have 3 columns, got 4"),
        (ValueError, lambda: GADCConv(0, 2), "in_channels must be a whole number >= 1"),
        (ValueError, lambda: GADCConv(4, 2, "V"), "variant must be one of plain"),
    ]:
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("variant", NAMES)
@pytest.mark.parametrize("out_channels", [2, 4, 7])  # mapped before and after the diffusion
@pytest.mark.parametrize("bias", [False, True])
def test_conv_is_diffuse_then_linear(variant, out_channels, bias):
    data = _data()
    conv = GADCConv(4, out_channels, variant, bias=bias, **SHORT).double()
    out = conv(data.x, data.edge_index, data.edge_weight)
    expected = conv.linear(gadc.diffuse(data.x, data.edge_index, data.edge_weight, variant=variant, **SHORT))
    torch.testing.assert_close(out, expected)


def test_conv_limits():
    data = _data()
    conv = GADCConv(4, 3, lam=0.0).double()
    torch.testing.assert_close(conv(data.x, data.edge_index), conv.linear(data.x))
    conv = GADCConv(4, 3, "plain", lam=1.0, num_steps=30).double()
    no_edges = torch.empty(2, 0, dtype=torch.int64)
    torch.testing.assert_close(conv(data.x, no_edges), conv.linear(data.x))  # T = I, and the weights sum to 1
    before = conv.linear.weight.clone()
    conv.reset_parameters()
    assert not torch.equal(conv.linear.weight, before)


@pytest.mark.parametrize("variant", NAMES)
@pytest.mark.parametrize("out_channels", [2, 5])
def test_gradients_in_features_and_edge_weights(variant, out_channels):
    graph = random_graph(5, 6, 3, weighted=True)
    conv = GADCConv(3, out_channels, variant, **SHORT).double()
    inputs = graph.x.clone().requires_grad_(), graph.edge_weight.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda x, weight: conv(x, graph.edge_index, weight), inputs)


class _Counting:
    """A transition that counts how often it is built."""

    calls = 0

    def __call__(self, *graph):
        self.calls += 1
        return gadc.transition(*graph, variant="II")


def test_a_cache_is_never_out_of_date():
    data, count = _data(), _Counting()
    conv = GADCConv(4, 2, count, cached=True, lam=1.0).double()
    fresh = GADCConv(4, 2, lam=1.0).double()
    fresh.load_state_dict(conv.state_dict())
    inputs = [data.x.clone(), data.edge_index, data.edge_weight.clone()]

    def calls():
        before = count.calls
        torch.testing.assert_close(conv(*inputs), fresh(*inputs))
        return count.calls - before

    assert [calls(), calls(), calls()] == [1, 0, 0]
    inputs[2] = inputs[2] * 2  # another tensor
    assert [calls(), calls()] == [1, 0]
    inputs[0].mul_(3)  # the same tensor, changed
    assert [calls(), calls()] == [1, 0]
    inputs[2] = None
    assert [calls(), calls()] == [1, 0]
    inputs[0] = inputs[0].requires_grad_()  # gradients need the graph each time
    assert [calls(), calls()] == [1, 1]
    assert conv(*inputs).requires_grad
    inputs[0] = inputs[0].detach()
    conv(*inputs)
    other = copy.deepcopy(conv)
    assert other._aggregated is None
    assert conv._aggregated is not None
    with torch.inference_mode():
        inputs[0] = inputs[0] * 1
        assert calls() == 1


def _training_losses(net, data, steps=30):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    labels = torch.arange(data.num_nodes) % 2
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(data.x, data.edge_index), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_cache_changes_nothing_about_training():
    data, shape = _data(), {"hidden": 8, "dropout": 0.0, "lam": 1.0}
    cached, fresh = (GADCNet(4, 2, cached=kept, **shape).double() for kept in (True, False))
    fresh.load_state_dict(cached.state_dict())
    losses = _training_losses(cached, data)
    assert losses == pytest.approx(_training_losses(fresh, data))
    assert losses[-1] < losses[0]


def _communities():
    """Two communities of 20 nodes whose features agree with them."""
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(40) % 2
    chance = torch.where(y[:, None] == y[None, :], 0.3, 0.02)
    pairs = (torch.rand(40, 40, generator=generator) < chance).triu(1).nonzero().T
    x = torch.randn(40, 6, generator=generator) + y[:, None]
    return x, to_undirected(pairs, num_nodes=40), y


@pytest.mark.parametrize("variant", NAMES)
def test_prbcd_attacks_the_network(variant, monkeypatch):
    # PRBCDAttack writes its keyword arguments into a dict of the class.
    monkeypatch.setattr(PRBCDAttack, "coeffs", dict(PRBCDAttack.coeffs))
    x, edge_index, y = _communities()
    torch.manual_seed(0)
    net = GADCNet(6, 2, hidden=8, variant=variant, lam=4.0, num_steps=4, cached=True)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    for _ in range(40):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x, edge_index), y).backward()
        optimizer.step()
    net.eval()
    attack = PRBCDAttack(net, block_size=300, epochs=15, epochs_resampling=10, log=False, max_final_samples=5)
    perturbed, flipped = attack.attack(x, edge_index, y, budget=10)
    assert 0 < flipped.shape[1] <= 10

    def margin(edges):  # what the attack lowers
        probability = net(x, edges).detach().softmax(1).gather(1, y[:, None])
        return (2 * probability - 1).mean().item()

    random_flips = torch.stack([torch.arange(10), torch.arange(10) + 21])  # across the communities
    random_edges = torch.cat([edge_index, random_flips, random_flips.flip(0)], 1)
    assert margin(perturbed) < min(margin(edge_index), margin(random_edges))


# torch itself looks at .grad of a tensor that is no leaf while it compiles.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_compile_leaves_the_layer_out_and_jit_refuses_it():
    data = _data()
    weight = data.edge_weight.requires_grad_()
    net = GADCNet(4, 2, dropout=0.0, **SHORT).double()
    compiled = torch.compile(net, backend="eager")
    out, expected = (module(data.x, data.edge_index, weight) for module in (compiled, net))
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(*(torch.autograd.grad(y.square().sum(), weight) for y in (out, expected)))
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported, match=r"torch.compiler.disable"):
        torch.compile(net, backend="eager", fullgraph=True)(data.x, data.edge_index)
    torch._dynamo.reset()
    with pytest.raises((RuntimeError, TypeError)):
        torch.jit.script(net)


def test_net_reset_and_state():
    net = GADCNet(4, 3, hidden=5)
    assert sorted(net.state_dict()) == [
        "conv.linear.bias",
        "conv.linear.weight",
        "head.layers.0.bias",
        "head.layers.0.weight",
    ]
    before = net.head.layers[0].weight.clone()
    net.reset_parameters()
    assert not torch.equal(net.head.layers[0].weight, before)
