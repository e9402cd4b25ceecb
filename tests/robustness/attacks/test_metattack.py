"""Metattack against brute force: every flip, with the surrogate trained again on the changed graph."""

import json

import pytest
import torch

from gadc._base.pairs import encode_pairs
from gadc.robustness.attacks._base import Rules
from gadc.robustness.attacks._metattack import GRADIENTS, Metattack, flips_of
from gadc.robustness.attacks._pair_gradient import Diffusion
from tests.helpers.communities import dense_adjacency, three_communities
from tests.helpers.surrogate_training import random_weights, trained_loss

FAST = {"num_steps": 10, "hidden": 4}


def run_metattack(data, budget=4, seed=0, nodes=None, rules=None, **settings):
    nodes = torch.nonzero(~data.train_mask).squeeze(1) if nodes is None else nodes
    return Metattack(**{**FAST, **settings})(None, data, nodes=nodes, budget=budget, seed=seed, rules=rules)


def rank_by_brute_force(data, settings):
    """Sort flips by the attack loss of a surrogate trained again on the changed graph, best flip first."""
    nodes = torch.nonzero(~data.train_mask).squeeze(1)
    train = torch.nonzero(data.train_mask).squeeze(1)
    diffusion = Diffusion(data.x, encode_pairs(data.edge_index, None)[0])
    objective = settings._objective(diffusion, data.y, train, nodes)
    generator = torch.Generator().manual_seed(0)
    w1 = ((2 * torch.rand(6, settings.hidden, generator=generator) - 1) / settings.hidden**0.5).double()
    w2 = ((2 * torch.rand(settings.hidden, 3, generator=generator) - 1) / 3**0.5).double()
    A, y = dense_adjacency(data), objective.targets.argmax(1)
    losses = {}
    for u, v in torch.combinations(torch.arange(len(A))).tolist():
        changed = A.clone()
        changed[u, v] = changed[v, u] = 1 - A[u, v]
        if bool((changed.sum(1)[A.sum(1) > 0] > 0).all()):
            loss = trained_loss(changed, data.x, y, objective, w1, w2, 0.1, 0.9, settings.num_steps)
            losses[u, v] = float(loss.detach())
    return sorted(losses, key=losses.get, reverse=True)


@pytest.mark.parametrize(("seed", "among"), [(0, 1), (3, 1), (5, 1), (2, 7), (4, 7), (6, 7)])
def test_metattack_takes_one_of_the_best_flips_by_brute_force(seed, among):
    """Take the best flip, or one of the best tenth where a derivative does not tell the whole effect."""
    data = three_communities(12, seed=seed)
    [flip] = run_metattack(data, 1).pairs.T.tolist()
    ranking = rank_by_brute_force(data, Metattack(**FAST))
    assert tuple(flip) in ranking[:among]
    assert len(ranking) > 50


def test_metattack_keeps_the_budget_and_isolates_no_node():
    data = three_communities(18, seed=3, degree=1)
    for per_step in (1, 4):
        flips = run_metattack(data, 9, flips_per_step=per_step)
        assert 0 < len(flips) <= 9
        A, changed = dense_adjacency(data), dense_adjacency(flips.apply(data))
        assert torch.equal(changed, changed.T)
        assert int((changed != A).sum()) == 2 * len(flips)
        assert bool((changed.sum(1)[A.sum(1) > 0] > 0).all())


@pytest.mark.parametrize("mode", ["add", "remove"])
def test_metattack_obeys_mode_and_protected_nodes(mode):
    data = three_communities(18, seed=3)
    protected = torch.tensor([0, 4, 5])
    pairs = run_metattack(data, 5, rules=Rules(mode=mode, protected=protected)).pairs
    assert pairs.shape[1] > 0
    assert bool((dense_adjacency(data)[pairs[0], pairs[1]] == (mode == "remove")).all())
    assert not bool(torch.isin(pairs, protected).any())


@pytest.mark.parametrize("per_step", [1, 5])
def test_metattack_keeps_costs_within_the_budget(per_step):
    data = three_communities(18, seed=3)
    rules = Rules(cost=lambda pairs: 1.0 + pairs[0])
    pairs = run_metattack(data, 20, rules=rules, flips_per_step=per_step).pairs
    assert pairs.shape[1] > 1
    assert float((1.0 + pairs[0]).sum()) <= 20


def test_metattack_flips_of_one_step_share_no_node():
    data = three_communities(24, seed=3)
    nodes = torch.nonzero(~data.train_mask).squeeze(1)
    attack = Metattack(**FAST, flips_per_step=4)
    states = list(attack.steps(data, nodes=nodes, budget=10))
    for before, after in zip([{"flips": []}, *states], states, strict=False):
        ends = [end for pair in after["flips"][len(before["flips"]) :] for end in pair]
        assert len(set(ends)) == len(ends)
    assert [len(state["flips"]) for state in states] == [4, 8, 10]


def test_metattack_repeats_with_its_seed_and_depends_on_it():
    data = three_communities(24, seed=3)
    assert torch.equal(run_metattack(data, seed=1).pairs, run_metattack(data, seed=1).pairs)
    found = {tuple(run_metattack(data, seed=seed).pairs.flatten().tolist()) for seed in range(4)}
    assert len(found) > 1


def test_metattack_uses_only_labels_of_training_nodes():
    data = three_communities(24, seed=3)
    hidden = data.clone()
    hidden.y = torch.where(data.train_mask, data.y, 0)
    assert torch.equal(run_metattack(data).pairs, run_metattack(hidden).pairs)


@pytest.mark.parametrize("after", [1, 3])
def test_metattack_resumed_equals_uninterrupted(after):
    data = three_communities(18, seed=3)
    nodes = torch.nonzero(~data.train_mask).squeeze(1)
    attack, asked = Metattack(**FAST), {"nodes": nodes, "budget": 6}
    whole = attack(None, data, seed=2, **asked)
    states = list(attack.steps(data, seed=2, **asked))
    assert [state["step"] for state in states] == [1, 2, 3, 4, 5, 6]
    stored = json.loads(json.dumps(states[after - 1]))
    *_, rest = attack.steps(data, seed=2, start=stored, **asked)
    assert torch.equal(whole.pairs, flips_of(rest).pairs)
    assert torch.equal(flips_of(states[-1]).pairs, whole.pairs)
    with pytest.raises(ValueError, match="Metattack: start was made with seed 2, got seed 3"):
        next(attack.steps(data, seed=3, start=stored, **asked))
    with pytest.raises(ValueError, match="Metattack: start must have seed, step and flips, got step"):
        next(attack.steps(data, seed=2, start={"step": 1}, **asked))


def test_flips_of_leaves_out_pairs_flipped_back():
    state = {"seed": 0, "step": 3, "flips": [[0, 1], [2, 5], [0, 1]]}
    assert flips_of(state).pairs.tolist() == [[2], [5]]


@pytest.mark.parametrize("gradient", sorted(GRADIENTS))
@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_metattack_harms_more_than_random_flips(gradient, lam):
    """Compare the attack loss of a surrogate trained on the attacked graph with that of random flips."""
    data = three_communities(30, seed=6)
    settings = Metattack(**FAST, gradient=gradient, lam=lam)
    nodes = torch.nonzero(~data.train_mask).squeeze(1)
    train = torch.nonzero(data.train_mask).squeeze(1)
    numbers = encode_pairs(data.edge_index, None)[0]
    objective = settings._objective(Diffusion(data.x, numbers), data.y, train, nodes)
    y = objective.targets.argmax(1)
    w1, w2 = random_weights(3)

    def harm(pairs):
        A = dense_adjacency(data)
        A[pairs[0], pairs[1]] = A[pairs[1], pairs[0]] = 1 - A[pairs[0], pairs[1]]
        return float(trained_loss(A, data.x, y, objective, w1, w2, 0.1, 0.9, 10).detach())

    everything = torch.combinations(torch.arange(30)).T
    draws = [
        everything[:, torch.randperm(435, generator=torch.Generator().manual_seed(k))[:6]] for k in range(20)
    ]
    attacked = settings(None, data, nodes=nodes, budget=6).pairs
    assert harm(attacked) > max(harm(pairs) for pairs in draws)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lam": 1.5}, r"Metattack: lam must lie in \[0, 1\], got 1.5"),
        ({"momentum": 1.0}, r"Metattack: momentum must lie in \[0, 1\), got 1.0"),
        ({"gradient": "none"}, "Metattack: gradient must be one of 'exact', 'approximate', got 'none'"),
        ({"flips_per_step": 0}, "Metattack: flips_per_step must be a whole number >= 1, got 0"),
        ({"lr": 0.0}, "Metattack: lr must be finite and > 0, got 0.0"),
    ],
)
def test_metattack_refuses_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        Metattack(**settings)


def test_metattack_refuses_bad_input():
    data = three_communities(12, seed=0)
    with pytest.raises(ValueError, match="Metattack: budget must be finite and >= 0, got -1"):
        run_metattack(data, -1)
    unlabelled = data.clone()
    unlabelled.train_mask = torch.zeros(12, dtype=torch.bool)
    with pytest.raises(ValueError, match="train_mask must name at least one node with a label, got none"):
        run_metattack(unlabelled)
