"""What holds for every attack of the registry: the budget, the rules, and the seed."""

import pytest
import torch
from torch_geometric.utils import contains_self_loops, is_undirected

from gadc._base.pairs import encode_pairs, pair_numbers
from gadc.robustness.attacks import ATTACKS, Rules, make_attack
from tests.helpers.attack_graph import as_set, communities, one_hop, two_hops

DATA = communities(14)
NODES = torch.tensor([2, 5, 8, 11])
QUICK = {
    "pgd": {"num_steps": 6, "num_samples": 5},
    "min-max": {"num_steps": 6, "num_samples": 5, "refit_every": 2, "refit": lambda data: one_hop},
    "prbcd": {"num_steps": 6, "resampling_steps": 4, "num_samples": 5},
    "grbcd": {"num_steps": 4},
    "metattack": {"num_steps": 5},
    "nettack": {"threshold": None},
}
EVERY = pytest.mark.parametrize("name", sorted(ATTACKS))


def _run(name, *, budget=5, seed=0, rules=None, data=DATA, nodes=NODES):
    nodes = nodes[:1] if name == "nettack" else nodes
    attack = make_attack(name, **QUICK.get(name, {}))
    return attack(two_hops, data, nodes=nodes, budget=budget, seed=seed, rules=rules)


def _present(flips, data=DATA):
    return torch.isin(pair_numbers(*flips.pairs), encode_pairs(data.edge_index, None)[0])


@EVERY
@pytest.mark.parametrize("weighted", [False, True])
def test_budget_symmetry_and_no_loops(name, weighted):
    data = communities(14, weighted=weighted)
    before = data.clone()
    flips = _run(name, data=data)
    assert 0 < len(flips) <= 5
    changed = flips.apply(data)
    assert is_undirected(changed.edge_index, changed.edge_weight, num_nodes=14)
    assert not contains_self_loops(changed.edge_index)
    assert all(torch.equal(before[key], data[key]) for key in before.keys())  # noqa: SIM118


@EVERY
def test_nothing_for_nothing(name):
    assert len(_run(name, budget=0)) == 0


@EVERY
@pytest.mark.parametrize("mode", ["add", "remove"])
def test_mode(name, mode):
    flips = _run(name, rules=Rules(mode=mode))
    assert len(flips)
    assert bool((_present(flips) == (mode == "remove")).all())


@EVERY
@pytest.mark.parametrize("mode", ["flip", "add", "remove"])
def test_protected_nodes_keep_their_edges(name, mode):
    protected = torch.tensor([0, 1, 3, 4, 6])
    flips = _run(name, rules=Rules(mode=mode, protected=protected))
    assert len(flips)
    assert not bool(torch.isin(flips.pairs, protected).any())


def _dear_edges(pairs):
    return 0.5 + (pairs.sum(0) % 4).double()


@EVERY
def test_costs(name):
    flips = _run(name, budget=6.0, rules=Rules(cost=_dear_edges))
    assert len(flips)
    assert float(_dear_edges(flips.pairs).sum()) <= 6.0


@EVERY
def test_same_seed_same_flips(name):
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    first = _run(name, seed=3)
    assert torch.equal(before, torch.random.get_rng_state())
    torch.manual_seed(2)
    assert as_set(_run(name, seed=3)) == as_set(first)


@pytest.mark.parametrize("name", ["random", "dice"])
def test_another_seed_other_flips(name):
    assert as_set(_run(name, seed=1)) != as_set(_run(name, seed=2))


@pytest.mark.parametrize("name", ["fga", "pgd", "prbcd", "grbcd"])
def test_scores_are_needed(name):
    with pytest.raises(ValueError, match="scores must be a function of the graph, got None"):
        make_attack(name, **QUICK.get(name, {}))(None, DATA, nodes=NODES, budget=2)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (DATA.test_mask, "nodes must be a vector of node numbers"),
        (torch.tensor([14]), r"nodes must lie in 0\.\.13"),
        (torch.tensor([], dtype=torch.int64), "nodes must be a vector of node numbers"),
    ],
)
def test_bad_nodes(nodes, message):
    with pytest.raises(ValueError, match=message):
        make_attack("fga")(one_hop, DATA, nodes=nodes, budget=2)


@pytest.mark.parametrize("scale", [1.0, torch.ones(2, requires_grad=True)])  # without and with parameters
def test_scores_without_a_gradient_are_named(scale):
    with pytest.raises(ValueError, match="scores must pass a gradient to edge_weight"):
        make_attack("fga")(lambda *graph: one_hop(*graph).detach() * scale, DATA, nodes=NODES, budget=2)


def test_a_gradient_that_is_not_finite_is_named():
    with pytest.raises(ValueError, match="the gradient of the scores in edge_weight must be finite"):
        make_attack("pgd")(lambda *graph: (one_hop(*graph) * 0).sqrt(), DATA, nodes=NODES, budget=2)


def test_unknown_name():
    with pytest.raises(ValueError, match=r"name must be one of random, dice, .*, got 'oracle'"):
        make_attack("oracle")
