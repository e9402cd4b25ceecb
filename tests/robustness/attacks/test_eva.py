"""EvA: an evolutionary search that needs no gradient."""

import pytest
import torch

from gadc.robustness.attacks import EvA, RandomFlips, Rules
from tests.helpers.attack_graph import as_set, communities, two_hops

DATA = communities(30)
NODES = torch.arange(30)


def rounded(x, edge_index, edge_weight=None):
    """Score without a gradient."""
    return torch.round(two_hops(x, edge_index, edge_weight)).detach()


def share_right(scores, flips):
    changed = flips.apply(DATA)
    return float((scores(changed.x, changed.edge_index).argmax(1) == DATA.y)[NODES].double().mean())


def test_eva_beats_random_flips_on_scores_without_a_gradient():
    flips = EvA(num_generations=30, population=16)(rounded, DATA, nodes=NODES, budget=12)
    drawn = [RandomFlips()(None, DATA, nodes=NODES, budget=12, seed=seed) for seed in range(20)]
    assert len(flips) <= 12
    assert share_right(rounded, flips) < min(share_right(rounded, one) for one in drawn)


def test_eva_scores_several_graphs_in_one_call_alike():
    calls = []

    def counted(x, edge_index, edge_weight=None):
        calls.append(len(x))
        return two_hops(x, edge_index, edge_weight)

    asked = {"nodes": NODES, "budget": 6, "rules": Rules(mode="add")}
    one, many = (
        EvA(num_generations=3, population=5, graphs_per_call=count)(counted, DATA, **asked)
        for count in (1, 3)
    )
    assert as_set(one) == as_set(many)
    assert set(calls) == {30, 60, 90}


def test_eva_never_loses_its_best_list():
    short, long = (
        EvA(num_generations=count, population=6)(two_hops, DATA, nodes=NODES, budget=6) for count in (2, 12)
    )
    assert share_right(two_hops, long) <= share_right(two_hops, short)


def test_eva_refuses_an_elite_as_large_as_the_population():
    with pytest.raises(ValueError, match="num_elite must be below population = 4, got 4"):
        EvA(population=4, num_elite=4)
