"""Injection of nodes."""

import pytest
import torch
from torch_geometric.utils import is_undirected

from gadc.robustness.attacks import Injection, Rules, make_loss
from tests.helpers.attack_graph import communities, two_hops

NODES = torch.tensor([1, 4, 6])


def _value(data):
    out = two_hops(data.x, data.edge_index, data.edge_weight)
    return float(make_loss("tanh-margin")(out[NODES], data.y[NODES]))


@pytest.mark.parametrize("features", ["drawn", "optimized"])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_injection_keeps_the_given_graph_and_hurts_the_attacked_nodes(features, binary, weighted):
    data = communities(10, weighted=weighted)
    if binary:
        data.x = (data.x > 0.4).double()
    before = data.clone()
    attack = Injection(features=features, edges_per_node=2)
    grown = attack(two_hops, data, nodes=NODES, budget=3, rules=Rules(protected=torch.tensor([0, 7])))
    assert all(torch.equal(before[key], data[key]) for key in before.keys())  # noqa: SIM118
    assert grown.num_nodes == 13
    assert torch.equal(grown.x[:10], data.x)
    assert torch.equal(grown.y[:10], data.y)
    assert grown.y[10:].tolist() == [-1] * 3
    assert not bool(grown.test_mask[10:].any())
    if binary:
        assert bool(((grown.x == 0) | (grown.x == 1)).all())
    assert is_undirected(grown.edge_index, grown.edge_weight, num_nodes=13)
    old = (grown.edge_index < 10).all(0)
    assert {tuple(e) for e in grown.edge_index[:, old].T.tolist()} == {
        tuple(e) for e in data.edge_index.T.tolist()
    }
    ends = grown.edge_index[:, ~old]
    assert torch.bincount(ends[0], minlength=13)[10:].tolist() == [2, 2, 2]
    assert not bool(torch.isin(ends, torch.tensor([0, 7])).any())
    assert _value(grown) > _value(data)


def test_injection_with_optimized_features_is_stronger():
    data = communities(10)
    drawn, optimized = (
        Injection(features=kind)(two_hops, data, nodes=NODES, budget=2, seed=3)
        for kind in ("drawn", "optimized")
    )
    assert _value(optimized) > _value(drawn)
    again = Injection()(two_hops, data, nodes=NODES, budget=2, seed=3)
    assert torch.equal(again.x, optimized.x)
    assert torch.equal(again.edge_index, optimized.edge_index)


def test_injection_of_no_node_changes_nothing():
    data = communities(10)
    grown = Injection()(two_hops, data, nodes=NODES, budget=0)
    assert torch.equal(grown.edge_index, data.edge_index)
    assert grown.num_nodes == 10


def test_injection_refuses_bad_settings():
    with pytest.raises(ValueError, match="features must be one of 'drawn', 'optimized', got 'copied'"):
        Injection(features="copied")
