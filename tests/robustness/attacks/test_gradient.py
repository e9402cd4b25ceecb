"""Gradient attacks on graphs where every set of flips can be tried."""

from dataclasses import replace
from itertools import combinations

import pytest
import torch

from gadc._base.pairs import encode_pairs, pair_numbers
from gadc.diffusion._graph import adjacency
from gadc.robustness.attacks import DICE, FGA, PGD, Flips, MinMax, RandomFlips, Rules, make_loss
from gadc.robustness.attacks._relaxation import Objective, RelaxedGraph
from tests.helpers.attack_graph import all_pairs, as_set, communities, loss_after, one_hop, two_hops

NODES = torch.tensor([1, 4, 6])
SEEDS = pytest.mark.parametrize("seed", range(4))


def _margin(scores, data, pairs):
    return loss_after(scores, data, list(pairs), NODES, make_loss("margin"))


def _highest(scores, data, budget):
    """The highest margin by so many flips, by trying all."""
    choices = combinations(all_pairs(data.num_nodes), budget)
    return pytest.approx(max(_margin(scores, data, pairs) for pairs in choices))


@SEEDS
@pytest.mark.parametrize("flips_per_step", [1, None])
def test_fga_finds_the_best_flips_of_linear_scores(seed, flips_per_step):
    data = communities(7, seed=seed)
    flips = FGA(loss="margin", flips_per_step=flips_per_step)(one_hop, data, nodes=NODES, budget=2)
    assert _margin(one_hop, data, as_set(flips)) == _highest(one_hop, data, 2)


def _no_return(x, edge_index, edge_weight=None):
    """Two steps that do not go back: linear in each edge weight by itself, not in several."""
    squares = adjacency(edge_index, edge_weight, len(x), dtype=x.dtype)
    squares = replace(squares, values=squares.values.square())
    return two_hops(x, edge_index, edge_weight) - (squares @ torch.ones_like(x[:, :2])) * x[:, :2]


@SEEDS
def test_greedy_fga_takes_the_best_flip_of_each_step(seed):
    data = communities(8, seed=seed)
    expected = []
    for _ in range(3):
        others = [pair for pair in all_pairs(8) if pair not in expected]
        expected.append(max(others, key=lambda pair: _margin(_no_return, data, [*expected, pair])))
    greedy, at_once = (
        FGA(loss="margin", flips_per_step=size)(_no_return, data, nodes=NODES, budget=3) for size in (1, None)
    )
    values = [_margin(_no_return, data, as_set(flips)) for flips in (greedy, at_once)]
    assert values[0] == pytest.approx(_margin(_no_return, data, expected))
    assert values[0] >= values[1]
    assert seed != 0 or values[0] > values[1]  # what a gradient says holds for one flip only


def test_fga_leaves_alone_what_helps_the_defender():
    data = communities(9)
    flips = FGA(loss="margin")(one_hop, data, nodes=NODES, budget=1000)
    assert 0 < len(flips) < len(all_pairs(9))
    for pair in all_pairs(9):
        helps = _margin(one_hop, data, [pair]) > _margin(one_hop, data, []) + 1e-12
        assert (pair in as_set(flips)) == helps


@SEEDS
def test_pgd_finds_the_best_flips(seed):
    data = communities(7, seed=seed)
    flips = PGD(loss="margin", num_steps=60)(one_hop, data, nodes=NODES, budget=2, seed=1)
    assert _margin(one_hop, data, as_set(flips)) == _highest(one_hop, data, 2)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_pgd_does_not_mind_the_scale_of_the_scores(scale):
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


def test_pgd_waits_for_a_slope():
    """At the start no pair helps the attacker: there is no scale yet, and nothing moves."""
    graph = RelaxedGraph.of(communities(9), torch.tensor(all_pairs(9)).T, Rules())
    assert PGD()._length(-torch.ones_like(graph.before), graph, 3.0) == 0.0


def test_pgd_gives_up_on_draws_in_time():
    """All chances are 1/2 and the budget is below nearly every draw: the most probable flips are left."""
    data = communities(9)
    attack = PGD(max_draws=3, num_steps=1)
    graph = RelaxedGraph.of(data, torch.tensor(all_pairs(9)).T, Rules())
    objective = Objective(one_hop, data, NODES, make_loss("margin"))
    flips = attack._sample(
        objective, graph, torch.full_like(graph.before, 0.9), 3.0, torch.Generator().manual_seed(0)
    )
    assert len(flips) == 3


def test_relaxed_weights_lead_from_the_graph_to_the_flipped_one():
    data = communities(9, weighted=True)
    pairs = torch.tensor(all_pairs(9)).T[:, ::2]
    graph = RelaxedGraph.of(data, pairs, Rules())
    whole = torch.ones_like(graph.before)
    for flipped, expected in [(0 * whole, data), (whole, Flips(pairs).apply(data))]:
        found = graph.data(data, flipped)
        assert torch.allclose(
            one_hop(data.x, found.edge_index, found.edge_weight),
            one_hop(data.x, expected.edge_index, expected.edge_weight),
        )


def test_gradient_of_flips_is_the_slope():
    data = communities(7, weighted=True)
    graph = RelaxedGraph.of(data, torch.tensor(all_pairs(7)).T, Rules())
    objective = Objective(two_hops, data, NODES, make_loss("cross-entropy"))
    point = torch.full_like(graph.before, 0.3)
    found = objective.gradient(graph, point)
    for k in range(len(point)):
        up, down = (point.index_fill(0, torch.tensor(k), value) for value in (0.3 + 1e-6, 0.3 - 1e-6))
        slope = (
            objective.value(graph.edge_index, graph.weights(up))
            - objective.value(graph.edge_index, graph.weights(down))
        ) / 2e-6
        assert torch.isclose(found[k], slope, rtol=1e-5, atol=1e-7)


def test_min_max_trains_again_on_relaxed_graphs():
    seen = []

    def refit(graph):
        seen.append(graph)
        return one_hop

    data = communities(8)
    attack = MinMax(refit=refit, refit_every=4, num_steps=9, loss="margin")
    attack(None, data, nodes=NODES, budget=2)
    assert len(seen) == 3  # at first, and after 4 and 8 steps
    assert seen[0] is data
    weight = seen[1].edge_weight
    assert bool(((weight > 0) & (weight <= 1 + 1e-9)).all())
    assert bool((weight < 1).any())
    seen.clear()
    attack(one_hop, data, nodes=NODES, budget=2)
    assert len(seen) == 2


def test_min_max_against_fixed_weights_is_pgd():
    data = communities(8)
    settings = {"num_steps": 20, "loss": "margin"}
    alternating = MinMax(refit=lambda graph: one_hop, **settings)(one_hop, data, nodes=NODES, budget=2)
    assert as_set(alternating) == as_set(PGD(**settings)(one_hop, data, nodes=NODES, budget=2))


def _kinds(flips, data):
    removed = torch.isin(pair_numbers(*flips.pairs), encode_pairs(data.edge_index, None)[0])
    same = data.y[flips.pairs[0]] == data.y[flips.pairs[1]]
    return removed, same


def test_dice_deletes_inside_and_connects_outside():
    data = communities(40)
    removed, same = _kinds(DICE()(None, data, nodes=NODES, budget=40, seed=1), data)
    assert torch.equal(removed, same)
    assert 10 <= int(removed.sum()) <= 30
    removed, _ = _kinds(DICE(add_share=1.0)(None, data, nodes=NODES, budget=40), data)
    assert not bool(removed.any())


def test_dice_stops_where_there_is_nothing_left():
    data = communities(8)
    flips = DICE(add_share=0.0)(None, data, nodes=NODES, budget=1000)
    removed, same = _kinds(flips, data)
    edges = encode_pairs(data.edge_index, None)[0]
    inside = sum(data.y[u] == data.y[v] for u, v in data.edge_index.T.tolist()) // 2
    assert len(flips) == inside < len(edges)
    assert bool((removed & same).all())


def test_random_flips_spend_the_budget():
    data = communities(12)
    assert len(RandomFlips()(None, data, nodes=NODES, budget=20)) == 20
    assert len(RandomFlips()(None, data, nodes=NODES, budget=1000)) == 66


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FGA(flips_per_step=0), "FGA: flips_per_step must be a whole number >= 1, got 0"),
        (lambda: PGD(num_steps=0), "PGD: num_steps must be a whole number >= 1, got 0"),
        (lambda: PGD(rate=0.0), "PGD: rate must be finite and > 0, got 0.0"),
        (lambda: PGD(loss="hinge"), "loss must be one of .*, got 'hinge'"),
        (lambda: DICE(add_share=2.0), r"DICE: add_share must lie in \[0, 1\], got 2.0"),
        (lambda: MinMax(refit=one_hop, refit_every=0), "refit_every must be a whole number >= 1, got 0"),
    ],
)
def test_bad_settings(make, message):
    with pytest.raises(ValueError, match=message):
        make()
