"""Metattack against automatic differentiation of the whole training in dense float64."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy, one_hot

from gadc._base.pairs import encode_pairs
from gadc.robustness.attacks import _best_pairs as search
from gadc.robustness.attacks._base import Rules
from gadc.robustness.attacks._meta_gradient import MetaObjective
from gadc.robustness.attacks._metattack import GRADIENTS, Metattack, flips_of
from gadc.robustness.attacks._pair_gradient import Diffusion, PairGradient
from tests.helpers import dense
from tests.helpers.communities import communities, dense_adjacency

N = 13
FAST = {"num_steps": 10, "hidden": 4}


def _trained(A, x, y, objective, w1, w2, lr, momentum, num_steps, *, first_order=False):
    """Attack loss after training; summed over the steps, weights held constant, if `first_order`."""
    S = dense.normalized(A)
    w1, w2 = w1.clone().requires_grad_(), w2.clone().requires_grad_()
    v1, v2 = torch.zeros_like(w1), torch.zeros_like(w2)
    losses = []
    for _ in range(num_steps):
        scores = S @ (S @ (x @ w1)) @ w2
        loss = cross_entropy(scores[objective.train], y[objective.train])
        g1, g2 = torch.autograd.grad(loss, (w1, w2), create_graph=not first_order)
        v1, v2 = momentum * v1 + g1, momentum * v2 + g2
        w1, w2 = w1 - lr * v1, w2 - lr * v2
        if first_order:
            w1, w2 = w1.detach().requires_grad_(), w2.detach().requires_grad_()
        scores = S @ (S @ (x @ w1)) @ w2
        losses.append((objective.weight * cross_entropy(scores, y, reduction="none")).sum())
    return sum(losses) if first_order else losses[-1]


def _weights(seed):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(6, 4), (4, 3)]
    return [torch.rand(shape, generator=generator, dtype=torch.float64) - 0.5 for shape in shapes]


def _objective(data, lam=0.3):
    train = torch.nonzero(data.train_mask).squeeze(1).flip(0)
    weight = lam * data.train_mask / len(train) + (1 - lam) * ~data.train_mask / int((~data.train_mask).sum())
    return MetaObjective(train, one_hot(data.y, 3).double(), weight.double())


@settings(max_examples=12)
@given(
    st.integers(0, 10**6),
    st.sampled_from(sorted(GRADIENTS)),
    st.sampled_from([0.0, 0.9]),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_the_lean_gradient_is_the_automatic_one(seed, kind, momentum, lam):
    data = communities(N, seed=seed)
    objective, steps = _objective(data, lam), {"lr": 0.1, "momentum": momentum, "num_steps": 12}
    w1, w2 = _weights(seed)
    A = dense_adjacency(data).requires_grad_()
    loss = _trained(A, data.x, data.y, objective, w1, w2, **steps, first_order=kind == "approximate")
    [expected] = torch.autograd.grad(loss, A)
    expected = expected + expected.T  # a pair is one variable

    diffusion = Diffusion(data.x, encode_pairs(data.edge_index, None)[0])
    lean = PairGradient(diffusion, GRADIENTS[kind](diffusion.twice, objective, w1, w2, **steps))
    for start, stop in ((0, N), (4, 9), (9, N)):
        above = torch.ones(N, N, dtype=torch.bool).triu(1)[start:stop, start:]
        difference = (lean.block(start, stop) - expected[start:stop, start:])[above]
        assert float(difference.abs().max()) < 1e-10 * max(1.0, float(expected.abs().max()))


def test_float32_is_close_to_float64():
    data = communities(N, seed=1)
    objective, numbers = _objective(data), encode_pairs(data.edge_index, None)[0]
    blocks = []
    for dtype in (torch.float32, torch.float64):
        diffusion = Diffusion(data.x.to(dtype), numbers)
        narrow = MetaObjective(objective.train, objective.targets.to(dtype), objective.weight.to(dtype))
        w1, w2 = (w.to(dtype) for w in _weights(0))
        thin = GRADIENTS["exact"](diffusion.twice, narrow, w1, w2, lr=0.1, momentum=0.9, num_steps=100)
        blocks.append(PairGradient(diffusion, thin).block(0, N).double())
    assert torch.allclose(*blocks, rtol=1e-3, atol=1e-5 * float(blocks[1].abs().max()))


@pytest.mark.parametrize("mode", ["flip", "add", "remove"])
def test_the_search_in_blocks_finds_the_best_pairs(mode, monkeypatch):
    monkeypatch.setattr(search, "ENTRIES", 3 * N)  # blocks of three rows
    data = communities(N, seed=4)
    A, rules = dense_adjacency(data), Rules(mode=mode, protected=torch.tensor([2]))
    diffusion = Diffusion(data.x, encode_pairs(data.edge_index, None)[0])
    w1, w2 = _weights(1)
    thin = GRADIENTS["exact"](diffusion.twice, _objective(data), w1, w2, lr=0.1, momentum=0.9, num_steps=9)
    gradient = PairGradient(diffusion, thin)
    gain = gradient.block(0, N) * (1 - 2 * A)
    expected = {}
    for u, v in torch.combinations(torch.arange(N)).tolist():
        fits = mode == "flip" or (A[u, v] == 1) == (mode == "remove")
        isolates = A[u, v] == 1 and 1 in (A[u].sum(), A[v].sum())
        if fits and not isolates and 2 not in (u, v) and gain[u, v] > 0:
            expected[u, v] = float(gain[u, v])
    for count in (1, 5, 1000):
        found = search.best_pairs(gradient, diffusion.edges, diffusion.degree, rules, count=count, budget=1.0)
        best = sorted(expected, key=expected.get, reverse=True)[:count]
        assert list(map(tuple, found.T.tolist())) == best


def _attack(data, budget=4, seed=0, nodes=None, rules=None, **settings):
    nodes = torch.nonzero(~data.train_mask).squeeze(1) if nodes is None else nodes
    return Metattack(**{**FAST, **settings})(None, data, nodes=nodes, budget=budget, seed=seed, rules=rules)


def _brute_force(data, settings):
    """Attack loss after each flip, the surrogate trained anew on the changed graph, best flip first."""
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
            loss = _trained(changed, data.x, y, objective, w1, w2, 0.1, 0.9, settings.num_steps)
            losses[u, v] = float(loss.detach())
    return sorted(losses, key=losses.get, reverse=True)


@pytest.mark.parametrize(("seed", "among"), [(0, 1), (3, 1), (5, 1), (2, 7), (4, 7), (6, 7)])
def test_the_flip_is_the_best_by_brute_force(seed, among):
    """The best one, or among the best tenth where a derivative does not tell the whole effect of a flip."""
    data = communities(12, seed=seed)
    [flip] = _attack(data, 1).pairs.T.tolist()
    ranking = _brute_force(data, Metattack(**FAST))
    assert tuple(flip) in ranking[:among]
    assert len(ranking) > 50


def test_budget_symmetry_and_isolation():
    data = communities(18, seed=3, degree=1)
    for per_step in (1, 4):
        flips = _attack(data, 9, flips_per_step=per_step)
        assert 0 < len(flips) <= 9
        A, changed = dense_adjacency(data), dense_adjacency(flips.apply(data))
        assert torch.equal(changed, changed.T)
        assert int((changed != A).sum()) == 2 * len(flips)
        assert bool((changed.sum(1)[A.sum(1) > 0] > 0).all())


@pytest.mark.parametrize("mode", ["add", "remove"])
def test_mode_and_protected_nodes(mode):
    data = communities(18, seed=3)
    protected = torch.tensor([0, 4, 5])
    pairs = _attack(data, 5, rules=Rules(mode=mode, protected=protected)).pairs
    assert pairs.shape[1] > 0
    assert bool((dense_adjacency(data)[pairs[0], pairs[1]] == (mode == "remove")).all())
    assert not bool(torch.isin(pairs, protected).any())


@pytest.mark.parametrize("per_step", [1, 5])
def test_costs_stay_within_the_budget(per_step):
    data = communities(18, seed=3)
    pairs = _attack(data, 20, rules=Rules(cost=lambda pairs: 1.0 + pairs[0]), flips_per_step=per_step).pairs
    assert pairs.shape[1] > 1
    assert float((1.0 + pairs[0]).sum()) <= 20


def test_flips_of_one_step_share_no_node():
    data = communities(24, seed=3)
    nodes = torch.nonzero(~data.train_mask).squeeze(1)
    attack = Metattack(**FAST, flips_per_step=4)
    states = list(attack.steps(data, nodes=nodes, budget=10))
    for before, after in zip([{"flips": []}, *states], states, strict=False):
        ends = [end for pair in after["flips"][len(before["flips"]) :] for end in pair]
        assert len(set(ends)) == len(ends)
    assert [len(state["flips"]) for state in states] == [4, 8, 10]


def test_it_repeats_by_seed_and_depends_on_it():
    data = communities(24, seed=3)
    assert torch.equal(_attack(data, seed=1).pairs, _attack(data, seed=1).pairs)
    found = {tuple(_attack(data, seed=seed).pairs.flatten().tolist()) for seed in range(4)}
    assert len(found) > 1


def test_only_labels_of_training_nodes_count():
    data = communities(24, seed=3)
    hidden = data.clone()
    hidden.y = torch.where(data.train_mask, data.y, 0)
    assert torch.equal(_attack(data).pairs, _attack(hidden).pairs)


@pytest.mark.parametrize("after", [1, 3])
def test_going_on_equals_not_stopping(after):
    data = communities(18, seed=3)
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


def test_a_pair_flipped_back_is_no_flip():
    state = {"seed": 0, "step": 3, "flips": [[0, 1], [2, 5], [0, 1]]}
    assert flips_of(state).pairs.tolist() == [[2], [5]]


@pytest.mark.parametrize("gradient", sorted(GRADIENTS))
@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_it_harms_more_than_chance(gradient, lam):
    """The attack loss of a surrogate trained on the attacked graph, against flips at random."""
    data = communities(30, seed=6)
    settings = Metattack(**FAST, gradient=gradient, lam=lam)
    nodes = torch.nonzero(~data.train_mask).squeeze(1)
    train = torch.nonzero(data.train_mask).squeeze(1)
    numbers = encode_pairs(data.edge_index, None)[0]
    objective = settings._objective(Diffusion(data.x, numbers), data.y, train, nodes)
    y = objective.targets.argmax(1)
    w1, w2 = _weights(3)

    def harm(pairs):
        A = dense_adjacency(data)
        A[pairs[0], pairs[1]] = A[pairs[1], pairs[0]] = 1 - A[pairs[0], pairs[1]]
        return float(_trained(A, data.x, y, objective, w1, w2, 0.1, 0.9, 10).detach())

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
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        Metattack(**settings)


def test_bad_input():
    data = communities(12, seed=0)
    with pytest.raises(ValueError, match="Metattack: budget must be finite and >= 0, got -1"):
        _attack(data, -1)
    unlabelled = data.clone()
    unlabelled.train_mask = torch.zeros(12, dtype=torch.bool)
    with pytest.raises(ValueError, match="Metattack: train_mask must name at least one node, got none"):
        _attack(unlabelled)
