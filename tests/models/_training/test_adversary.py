"""The adversary of a training: what it may change, that it harms, and that it remembers."""

import pytest
import torch

from gadc.datasets import csbm
from gadc.models import Ridge
from gadc.models._training.adversary import EdgeAdversary
from gadc.models._training.loss import margins

RATE = 0.1


@pytest.fixture(scope="module")
def data():
    return csbm(80, num_features=8, seed=0)


@pytest.fixture(scope="module")
def scores(data):
    trained = Ridge(penalty=0.1).fit(data).scores
    return lambda edge_index, edge_weight: trained(data.x, edge_index, edge_weight)


def _adversary(data, *, num_steps=20, block_size=500, rate=RATE):
    nodes = torch.nonzero(data.val_mask | data.test_mask).squeeze(1)
    labels = data.y[nodes]
    generator = torch.Generator().manual_seed(0)
    return EdgeAdversary(
        data.edge_index,
        data.get("edge_weight"),
        nodes=nodes,
        labels=labels,
        num_nodes=data.num_nodes,
        rate=rate,
        num_steps=num_steps,
        block_size=block_size,
        generator=generator,
    )


def _dense(edge_index, edge_weight, n):
    matrix = torch.zeros(n, n)
    matrix[edge_index[0], edge_index[1]] = edge_weight
    return torch.maximum(matrix, matrix.T)


def _harm(adversary, scores, edges):
    with torch.no_grad():
        return float(margins(scores(*edges)[adversary.nodes], adversary.labels).tanh().mean())


def test_flips_stay_within_the_budget_and_change_edges_between_zero_and_one(data, scores):
    adversary = _adversary(data)
    found = _dense(*adversary.attack(scores), data.num_nodes)
    clean = _dense(data.edge_index, torch.ones(data.num_edges), data.num_nodes)
    changed = (found != clean).triu()
    assert 0 < int(changed.sum()) <= adversary.budget
    assert set(found.unique().tolist()) == {0.0, 1.0}
    assert not bool(changed.diagonal().any())


def test_flips_harm_more_than_random_ones(data, scores):
    adversary = _adversary(data)
    nothing = (data.edge_index, torch.ones(data.num_edges))
    found = _harm(adversary, scores, adversary.attack(scores))
    drawn = torch.randint(data.num_nodes, (2, adversary.budget), generator=torch.Generator().manual_seed(1))
    random = (torch.cat([data.edge_index, drawn], 1), torch.ones(data.num_edges + adversary.budget))
    assert found > max(_harm(adversary, scores, one) for one in (nothing, random)) + 0.1


def test_search_begins_at_the_flips_of_the_one_before(data, scores):
    """Many short searches find what one short search cannot."""
    adversary = _adversary(data, num_steps=2, block_size=40)
    first = _harm(adversary, scores, adversary.attack(scores))
    for _ in range(20):
        edges = adversary.attack(scores)
    assert _harm(adversary, scores, edges) > first + 0.05


def test_weights_of_other_edges_stay(data, scores):
    weighted = data.clone()
    weighted.edge_weight = torch.full((data.num_edges,), 2.0)
    adversary = _adversary(weighted)
    found = _dense(*adversary.attack(scores), data.num_nodes)
    assert set(found.unique().tolist()) <= {0.0, 1.0, 2.0}
    changed = found != _dense(weighted.edge_index, weighted.edge_weight, data.num_nodes)
    assert int(changed.triu().sum()) <= adversary.budget


def test_no_budget_changes_nothing(data, scores):
    found = _dense(*_adversary(data, rate=0.0).attack(scores), data.num_nodes)
    assert torch.equal(found, _dense(data.edge_index, torch.ones(data.num_edges), data.num_nodes))


def test_budget_is_a_share_of_the_edges_at_the_attacked_nodes(data):
    """However the edges are listed."""
    first, second = data.edge_index
    once, other = data.clone(), data.clone()
    once.edge_index, other.edge_index = data.edge_index[:, first < second], data.edge_index[:, first > second]
    nodes = torch.nonzero(data.val_mask | data.test_mask).squeeze(1)
    touched = int((torch.isin(data.edge_index, nodes).any(0) & (first < second)).sum())
    assert {_adversary(one).budget for one in (data, once, other)} == {round(RATE * touched)}


def test_all_pairs_may_be_considered(data, scores):
    adversary = _adversary(data, block_size=10**6)
    assert _harm(adversary, scores, adversary.attack(scores)) > -1
