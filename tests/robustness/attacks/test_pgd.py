"""PGD on graphs small enough to try every set of flips."""

import pytest
import torch

from gadc.robustness.attacks import PGD, Rules, make_loss
from gadc.robustness.attacks._relaxation import Objective, RelaxedGraph
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


@SEEDS
def test_pgd_finds_the_best_flips(seed):
    data = communities(7, seed=seed)
    flips = PGD(loss="margin", num_steps=60)(one_hop, data, nodes=NODES, budget=2, seed=1)
    assert margin_after(one_hop, data, as_set(flips), NODES) == highest_margin(one_hop, data, 2, NODES)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_pgd_does_not_depend_on_the_scale_of_the_scores(scale):
    data = communities(9)

    def scaled_scores(*graph):
        return scale * two_hops(*graph)

    free, published = (
        PGD(loss="margin", num_steps=20, num_samples=0),
        PGD(loss="margin", num_steps=20, num_samples=0, scaled=False, rate=0.1),
    )
    flips = [as_set(free(scores, data, nodes=NODES, budget=3)) for scores in (two_hops, scaled_scores)]
    assert flips[0] == flips[1]
    assert len(flips[0]) == 3
    steps = [published._length(torch.full((3,), size), None, 3.0) for size in (1.0, scale)]
    assert steps[0] == steps[1] == pytest.approx(0.3)  # the same factor of gradients of any size


def test_pgd_does_not_move_while_no_pair_helps():
    graph = RelaxedGraph.of(communities(9), torch.tensor(all_pairs(9)).T, Rules())
    assert PGD()._length(-torch.ones_like(graph.before), graph, 3.0) == 0.0


def test_pgd_falls_back_to_the_most_probable_flips_if_draws_exceed_the_budget():
    data = communities(9)
    attack = PGD(max_draws=3, num_steps=1)
    graph = RelaxedGraph.of(data, torch.tensor(all_pairs(9)).T, Rules())
    objective = Objective(one_hop, data, NODES, make_loss("margin"))
    flips = attack._sample(
        objective, graph, torch.full_like(graph.before, 0.9), 3.0, torch.Generator().manual_seed(0)
    )
    assert len(flips) == 3
