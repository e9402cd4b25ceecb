"""DICE removes edges within classes and adds edges between them."""

import torch

from gadc._base.pairs import encode_pairs, pair_numbers
from gadc.robustness.attacks import DICE
from tests.helpers.attack_graph import communities

NODES = torch.tensor([1, 4, 6])


def kinds(flips, data):
    removed = torch.isin(pair_numbers(*flips.pairs), encode_pairs(data.edge_index, None)[0])
    same = data.y[flips.pairs[0]] == data.y[flips.pairs[1]]
    return removed, same


def test_dice_removes_within_classes_and_adds_between_them():
    data = communities(40)
    removed, same = kinds(DICE()(None, data, nodes=NODES, budget=40, seed=1), data)
    assert torch.equal(removed, same)
    assert 10 <= int(removed.sum()) <= 30
    removed, _ = kinds(DICE(add_share=1.0)(None, data, nodes=NODES, budget=40), data)
    assert not bool(removed.any())


def test_dice_stops_when_no_edge_within_a_class_is_left():
    data = communities(8)
    flips = DICE(add_share=0.0)(None, data, nodes=NODES, budget=1000)
    removed, same = kinds(flips, data)
    edges = encode_pairs(data.edge_index, None)[0]
    inside = sum(data.y[u] == data.y[v] for u, v in data.edge_index.T.tolist()) // 2
    assert len(flips) == inside < len(edges)
    assert bool((removed & same).all())
