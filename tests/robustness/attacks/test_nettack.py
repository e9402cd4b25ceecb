"""Nettack against brute force: every candidate flip on a graph rebuilt from scratch."""

import pytest
import torch

from gadc.robustness.attacks._base import Rules
from gadc.robustness.attacks._nettack import Nettack
from gadc.robustness.attacks._surrogate import fit_surrogate
from tests.helpers import dense
from tests.helpers.communities import dense_adjacency, flip_pair, three_communities


def _margin(A, C, target, label):
    S = dense.normalized(A)
    scores = (S @ S @ C)[target]
    return float(scores[label] - scores[torch.arange(len(scores)) != label].max())


def _projected(data):
    S = dense.normalized(dense_adjacency(data))
    W = fit_surrogate(S @ S @ data.x, data.y, torch.nonzero(data.train_mask).squeeze(1), 3)
    return data.x @ W


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("influencers", [0, 1, 20])
def test_nettack_takes_the_best_of_all_flips(seed, influencers):
    data = three_communities(14, seed=seed)
    A, C, target = dense_adjacency(data), _projected(data), 5
    label = int(data.y[target])
    flips = Nettack(influencers=influencers, threshold=None)(
        None, data, nodes=torch.tensor([target]), budget=1
    )
    neighbors = set(torch.nonzero(A[target]).flatten().tolist())
    after = {}
    for u, v in torch.combinations(torch.arange(14)).tolist():
        allowed = target in (u, v) if not influencers else (target not in (u, v) and neighbors & {u, v})
        isolates = A[u, v] == 1 and 1 in (A[u].sum(), A[v].sum())
        if allowed and not isolates:
            after[u, v] = _margin(flip_pair(A, u, v), C, target, label)
    best = min(after, key=after.get)
    assert after[best] < _margin(A, C, target, label)
    assert tuple(flips.pairs[:, 0].tolist()) == best


def test_nettack_budget_is_per_target_and_follows_the_degree_by_default():
    data = three_communities(30, seed=1)
    attack, targets = Nettack(threshold=None), torch.tensor([3, 17])
    assert len(attack(None, data, nodes=targets, budget=2)) == 4
    degree = dense_adjacency(data).sum(1)
    assert 2 < len(attack(None, data, nodes=targets[:1])) <= degree[3] + 2


def test_nettack_obeys_the_rules():
    data = three_communities(30, seed=2)
    A = dense_adjacency(data)
    target = torch.tensor([4])
    protected = torch.arange(10, 30)
    added = Nettack(threshold=None)(
        None, data, nodes=target, budget=4, rules=Rules(mode="add", protected=protected)
    )
    assert len(added) > 0
    assert bool((A[added.pairs[0], added.pairs[1]] == 0).all())
    assert not bool(torch.isin(added.pairs, protected).any())
    removed = Nettack(threshold=None)(None, data, nodes=target, budget=4, rules=Rules(mode="remove")).pairs
    assert bool((A[removed[0], removed[1]] == 1).all())
    uneven = Rules(cost=lambda pairs: 1.0 + pairs.sum(0))
    pairs = Nettack(threshold=None)(None, data, nodes=target, budget=30, rules=uneven).pairs
    assert pairs.shape[1] > 0
    assert float((1.0 + pairs.sum(0)).sum()) <= 30


def test_nettack_isolates_no_node():
    data = three_communities(16, seed=3, degree=1)
    changed = Nettack(threshold=None)(None, data, nodes=torch.arange(16), budget=3).apply(data)
    before, after = dense_adjacency(data).sum(1), dense_adjacency(changed).sum(1)
    assert bool((after[before > 0] > 0).all())


def test_nettack_lowers_the_margin_and_is_deterministic():
    data = three_communities(40, seed=5)
    C, target = _projected(data), 8
    label = int(data.y[target])
    first, second = (Nettack()(None, data, nodes=torch.tensor([target]), budget=3) for _ in range(2))
    assert torch.equal(first.pairs, second.pairs)
    margins = [_margin(dense_adjacency(graph), C, target, label) for graph in (data, first.apply(data))]
    assert margins[1] < margins[0]


def test_nettack_flips_less_under_a_strict_degree_test():
    data = three_communities(20, seed=7)
    few = Nettack(threshold=1e-9)(None, data, nodes=torch.tensor([2]), budget=5)
    many = Nettack(threshold=None)(None, data, nodes=torch.tensor([2]), budget=5)
    assert len(few) < len(many)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"influencers": -1}, "Nettack: influencers must be a whole number >= 0, got -1"),
        ({"threshold": 0.0}, "Nettack: threshold must be finite and > 0, got 0.0"),
    ],
)
def test_nettack_refuses_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        Nettack(**settings)


def test_nettack_refuses_bad_nodes():
    data = three_communities(12, seed=0)
    with pytest.raises(ValueError, match=r"Nettack: nodes must lie in 0..11, got \[12\]"):
        Nettack()(None, data, nodes=torch.tensor([12]), budget=1)
    with pytest.raises(ValueError, match=r"Nettack: nodes must be distinct, got \[3, 3\]"):
        Nettack()(None, data, nodes=torch.tensor([3, 3]), budget=1)
    with pytest.raises(ValueError, match="Nettack: nodes must be a vector of node numbers"):
        Nettack()(None, data, nodes=data.test_mask, budget=1)
