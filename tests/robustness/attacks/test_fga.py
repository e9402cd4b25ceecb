"""FGA on graphs small enough to try every set of flips."""

from dataclasses import replace

import pytest
import torch

from gadc.diffusion._graph import adjacency
from gadc.robustness.attacks import FGA
from tests.helpers.attack_graph import (
    all_pairs,
    as_set,
    communities,
    highest_margin,
    margin_after,
    one_hop,
    two_hops,
)

NODES = torch.tensor([1, 4, 6])
SEEDS = pytest.mark.parametrize("seed", range(4))


def no_return(x, edge_index, edge_weight=None):
    """Scores by walks of two steps that do not return: linear in each edge weight, but not in several."""
    squares = adjacency(edge_index, edge_weight, len(x), dtype=x.dtype)
    squares = replace(squares, values=squares.values.square())
    return two_hops(x, edge_index, edge_weight) - (squares @ torch.ones_like(x[:, :2])) * x[:, :2]


@SEEDS
@pytest.mark.parametrize("flips_per_step", [1, None])
def test_fga_finds_the_best_flips_of_linear_scores(seed, flips_per_step):
    data = communities(7, seed=seed)
    flips = FGA(loss="margin", flips_per_step=flips_per_step)(one_hop, data, nodes=NODES, budget=2)
    assert margin_after(one_hop, data, as_set(flips), NODES) == highest_margin(one_hop, data, 2, NODES)


@SEEDS
def test_fga_with_one_flip_per_step_takes_the_best_flip_of_each_step(seed):
    data = communities(8, seed=seed)
    expected = []
    for _ in range(3):
        others = [pair for pair in all_pairs(8) if pair not in expected]
        expected.append(max(others, key=lambda pair: margin_after(no_return, data, [*expected, pair], NODES)))
    greedy, at_once = (
        FGA(loss="margin", flips_per_step=size)(no_return, data, nodes=NODES, budget=3) for size in (1, None)
    )
    values = [margin_after(no_return, data, as_set(flips), NODES) for flips in (greedy, at_once)]
    assert values[0] == pytest.approx(margin_after(no_return, data, expected, NODES))
    assert values[0] >= values[1]
    assert seed != 0 or values[0] > values[1]  # a gradient is exact for a single flip only


def test_fga_never_flips_pairs_that_lower_the_loss():
    data = communities(9)
    flips = FGA(loss="margin")(one_hop, data, nodes=NODES, budget=1000)
    assert 0 < len(flips) < len(all_pairs(9))
    for pair in all_pairs(9):
        helps = margin_after(one_hop, data, [pair], NODES) > margin_after(one_hop, data, [], NODES) + 1e-12
        assert (pair in as_set(flips)) == helps
