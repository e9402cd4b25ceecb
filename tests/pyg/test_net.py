"""The network: training, attacks through it, and what compilers make of it."""

import warnings

import pytest
import torch
from torch_geometric.utils import to_undirected

from gadc.diffusion import VARIANTS
from gadc.pyg import GADCNet
from tests.helpers.graphs import pyg_graph

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=".*contrib.* contains experimental code")
    from torch_geometric.contrib.nn import PRBCDAttack

SHORT = {"lam": 0.3, "num_steps": 4, "eps": 0.5}


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
    data, shape = pyg_graph(), {"hidden": 8, "dropout": 0.0, "lam": 1.0}
    nets = [GADCNet(4, 2, cached=kept, **shape).double() for kept in (None, True, False)]
    for net in nets[1:]:
        net.load_state_dict(nets[0].state_dict())
    losses = [_training_losses(net, data) for net in nets]
    assert losses[0] == pytest.approx(losses[1])
    assert losses[0] == pytest.approx(losses[2])
    assert losses[0][-1] < losses[0][0]
    assert nets[0].conv._seen.features is not None


def test_net_refuses_scores_that_overflow():
    data, net = pyg_graph(), GADCNet(4, 2, dropout=0.0, **SHORT)
    with torch.no_grad():
        net.head.layers[0].weight.fill_(3e38)
    with pytest.raises(ValueError, match="GADCNet: the scores must be finite"):
        net(1e3 * data.x.float().abs(), data.edge_index)


def _communities():
    """Two communities of 20 nodes whose features agree with them."""
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(40) % 2
    chance = torch.where(y[:, None] == y[None, :], 0.3, 0.02)
    pairs = (torch.rand(40, 40, generator=generator) < chance).triu(1).nonzero().T
    x = torch.randn(40, 6, generator=generator) + y[:, None]
    return x, to_undirected(pairs, num_nodes=40), y


@pytest.mark.parametrize("variant", VARIANTS)
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


# torch itself looks at .grad of a tensor that is not a leaf while it compiles, and warns on Python 3.13.0.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
@pytest.mark.filterwarnings("ignore:Guards may run slower on Python 3.13.0")
def test_compile_leaves_the_layer_out_and_jit_refuses_it():
    data = pyg_graph()
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


def test_net_resets_and_names_its_weights():
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
