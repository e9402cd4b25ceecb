"""Properties of every attack in the registry: budget, rules and seed."""

import pytest
import torch
from torch_geometric.utils import contains_self_loops, is_undirected

from gadc._base.pairs import encode_pairs, pair_numbers
from gadc.robustness.attacks import (
    ATTACKS,
    DICE,
    FGA,
    GRBCD,
    PGD,
    PRBCD,
    FeatureAttack,
    Metattack,
    MinMax,
    Nettack,
    Rules,
    make_attack,
)
from tests.helpers.attack_graph import as_set, communities, one_hop, two_hops

DATA = communities(14)
NODES = torch.tensor([2, 5, 8, 11])
QUICK = {
    "pgd": {"num_steps": 6, "num_samples": 5},
    "min-max": {"num_steps": 6, "num_samples": 5, "refit_every": 2, "refit": lambda data: one_hop},
    "prbcd": {"num_steps": 6, "resampling_steps": 4, "num_samples": 5},
    "grbcd": {"num_steps": 4},
    "eva": {"num_generations": 3, "population": 4},
    "poison-pgd": {"num_steps": 6, "num_samples": 5},
    "poison-prbcd": {"num_steps": 6, "resampling_steps": 4, "num_samples": 5},
    "poison-eva": {"num_generations": 3, "population": 4},
    "metattack": {"num_steps": 5},
    "nettack": {"threshold": None},
}
WITHOUT_SCORES = {"random", "dice", "min-max", "metattack", "nettack"}  # none at all, or their own
EVERY = pytest.mark.parametrize("name", sorted(ATTACKS))


def run(name, *, budget=5, seed=0, rules=None, data=DATA, nodes=NODES):
    nodes = nodes[:1] if name == "nettack" else nodes
    attack = make_attack(name, **QUICK.get(name, {}))
    return attack(two_hops, data, nodes=nodes, budget=budget, seed=seed, rules=rules)


def present(flips, data=DATA):
    return torch.isin(pair_numbers(*flips.pairs), encode_pairs(data.edge_index, None)[0])


@EVERY
@pytest.mark.parametrize("weighted", [False, True])
def test_attack_keeps_budget_symmetry_and_the_given_graph(name, weighted):
    data = communities(14, weighted=weighted)
    before = data.clone()
    flips = run(name, data=data)
    assert 0 < len(flips) <= 5
    changed = flips.apply(data)
    assert is_undirected(changed.edge_index, changed.edge_weight, num_nodes=14)
    assert not contains_self_loops(changed.edge_index)
    assert all(torch.equal(before[key], data[key]) for key in before.keys())  # noqa: SIM118


@EVERY
def test_attack_without_budget_flips_nothing(name):
    assert len(run(name, budget=0)) == 0


@EVERY
@pytest.mark.parametrize("mode", ["add", "remove"])
def test_attack_obeys_the_mode(name, mode):
    flips = run(name, rules=Rules(mode=mode))
    assert len(flips)
    assert bool((present(flips) == (mode == "remove")).all())


@EVERY
@pytest.mark.parametrize("mode", ["flip", "add", "remove"])
def test_attack_spares_protected_nodes(name, mode):
    protected = torch.tensor([0, 1, 3, 4, 6])
    flips = run(name, rules=Rules(mode=mode, protected=protected))
    assert len(flips)
    assert not bool(torch.isin(flips.pairs, protected).any())


@EVERY
@pytest.mark.parametrize("mode", ["flip", "add", "remove"])
def test_attack_flips_only_pairs_that_touch_the_required_nodes(name, mode):
    touching = torch.tensor([2, 5, 9])
    flips = run(name, rules=Rules(mode=mode, touching=touching, protected=torch.tensor([0])))
    assert len(flips)
    assert bool(torch.isin(flips.pairs, touching).any(0).all())
    assert not bool((flips.pairs == 0).any())


def uneven_costs(pairs):
    return 0.5 + (pairs.sum(0) % 4).double()


@EVERY
def test_attack_keeps_the_sum_of_costs_within_the_budget(name):
    flips = run(name, budget=6.0, rules=Rules(cost=uneven_costs))
    assert len(flips)
    assert float(uneven_costs(flips.pairs).sum()) <= 6.0


@EVERY
def test_attack_repeats_with_its_seed_and_leaves_the_global_seed_alone(name):
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    first = run(name, seed=3)
    assert torch.equal(before, torch.random.get_rng_state())
    torch.manual_seed(2)
    assert as_set(run(name, seed=3)) == as_set(first)


@pytest.mark.parametrize("name", ["random", "dice"])
def test_random_attack_depends_on_its_seed(name):
    assert as_set(run(name, seed=1)) != as_set(run(name, seed=2))


@pytest.mark.parametrize("name", sorted(set(ATTACKS) - WITHOUT_SCORES))
def test_attack_on_scores_refuses_to_run_without_scores(name):
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
def test_attack_refuses_bad_nodes(nodes, message):
    with pytest.raises(ValueError, match=message):
        make_attack("fga")(one_hop, DATA, nodes=nodes, budget=2)


@pytest.mark.parametrize("scale", [1.0, torch.ones(2, requires_grad=True)])  # without and with parameters
def test_attack_refuses_scores_without_a_gradient(scale):
    with pytest.raises(ValueError, match="scores must pass a gradient to edge_weight"):
        make_attack("fga")(lambda *graph: one_hop(*graph).detach() * scale, DATA, nodes=NODES, budget=2)


def test_attack_refuses_a_gradient_that_is_not_finite():
    with pytest.raises(ValueError, match="the gradient of the scores in edge_weight must be finite"):
        make_attack("pgd")(lambda *graph: (one_hop(*graph) * 0).sqrt(), DATA, nodes=NODES, budget=2)


def test_make_attack_lists_the_names():
    with pytest.raises(ValueError, match=r"name must be one of random, dice, .*, got 'oracle'"):
        make_attack("oracle")


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
def test_attack_refuses_bad_settings(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@EVERY
def test_attack_refuses_a_share_of_the_edges_as_budget(name):
    with pytest.raises(
        ValueError, match=r"budget must be a number of edges and at least 1, got 0.05; the graph"
    ):
        run(name, budget=0.05)


def test_attack_refuses_labels_without_a_column():
    data = communities()
    data.y[3] = 5
    for attack in (FGA(), PRBCD(num_steps=2)):
        with pytest.raises(ValueError, match="got 2 columns and label 5"):
            attack(one_hop, data, nodes=torch.tensor([3]), budget=2)


@pytest.mark.parametrize("attack", [PRBCD(num_steps=2), GRBCD(num_steps=2)])
def test_block_attack_refuses_scores_that_ignore_edge_weights(attack):
    data = communities()
    with pytest.raises(ValueError, match="scores must pass a gradient to edge_weight"):
        attack(lambda x, edge_index, edge_weight: x, data, nodes=torch.arange(4), budget=2)
    with pytest.raises(ValueError, match="scores must pass a gradient to x"):
        FeatureAttack(norm="l2")(lambda x, *edges: torch.ones(12, 2), data, nodes=torch.arange(4), budget=1)


def test_block_attack_runs_on_a_weighted_graph_without_edges():
    data = communities()
    data.edge_index, data.edge_weight = torch.empty(2, 0, dtype=torch.int64), torch.empty(0)
    data.x = data.x.float()
    assert len(PRBCD(num_steps=2)(one_hop, data, nodes=torch.arange(4), budget=2)) <= 2


@pytest.mark.parametrize("attack", [Metattack(num_steps=3), Nettack()])
def test_surrogate_is_trained_on_labelled_nodes(attack):
    data = communities()
    labelled = data.clone()
    labelled.train_mask[0] = False
    data.y[0] = -1  # a training node
    nodes = torch.tensor([3, 4])
    flips, expected = (attack(None, one, nodes=nodes, budget=2) for one in (data, labelled))
    assert as_set(flips) == as_set(expected)
    data.y[:] = -1
    with pytest.raises(ValueError, match="at least one node with a label"):
        attack(None, data, nodes=nodes, budget=2)


def test_nettack_refuses_targets_without_a_label():
    data = communities()
    data.y[4] = -1
    with pytest.raises(ValueError, match="every node of nodes must have a label"):
        Nettack()(None, data, nodes=torch.tensor([3, 4]), budget=2)


def test_metattack_ends_under_an_endless_budget():
    data = communities(6)
    flips = Metattack(num_steps=2)(None, data, nodes=torch.arange(6), budget=10**9)
    assert len(flips) <= 15


def test_dice_leaves_unlabelled_nodes_alone():
    data = communities()
    data.y[:4] = -1
    flips = DICE()(None, data, nodes=torch.arange(12), budget=30)
    assert len(flips)
    assert int(flips.pairs.min()) >= 4
