"""Attacks on features: within the budget, in the controlled rows only, and harmful."""

import pytest
import torch

from gadc.models import GADC
from gadc.robustness.attacks import FeatureAttack, make_loss
from tests.helpers.attack_graph import communities, one_hop

NODES = torch.tensor([1, 4, 6])


def _binary(data):
    data.x = (data.x > 0.4).double()
    return data


def _value(scores, data, x):
    out = scores(x, data.edge_index, data.edge_weight).detach()
    return float(make_loss("tanh-margin")(out[NODES], data.y[NODES]))


@pytest.mark.parametrize("rows", [None, [0, 2, 5]])
@pytest.mark.parametrize("budget", [0, 1, 2, 9])
def test_feature_attack_l0_flips_entries_within_the_budget(rows, budget):
    data = _binary(communities(10))
    held = None if rows is None else torch.tensor(rows)
    before = data.x.clone()
    x = FeatureAttack()(one_hop, data, nodes=NODES, budget=budget, rows=held)
    assert torch.equal(data.x, before)
    assert bool(((x == 0) | (x == 1)).all())
    changed = (x != before).sum(1)
    assert int(changed.max()) <= budget
    if rows is not None:
        assert set(torch.nonzero(changed).flatten().tolist()) <= set(rows)
    assert (_value(one_hop, data, x) > _value(one_hop, data, before)) == (budget > 0)


@pytest.mark.parametrize("rows", [None, [0, 2, 5]])
@pytest.mark.parametrize("budget", [0.0, 0.3, 2.0])
def test_feature_attack_l2_moves_rows_within_the_budget(rows, budget):
    data = communities(10)
    held = None if rows is None else torch.tensor(rows)
    x = FeatureAttack(norm="l2")(one_hop, data, nodes=NODES, budget=budget, rows=held)
    moved = (x - data.x).norm(dim=1)
    assert float(moved.max()) <= budget + 1e-9
    if rows is not None:
        assert set(torch.nonzero(moved).flatten().tolist()) <= set(rows)
    assert (_value(one_hop, data, x) > _value(one_hop, data, data.x)) == (budget > 0)


def test_feature_attack_finds_the_best_flip_of_linear_scores():
    data = _binary(communities(6))
    attack = FeatureAttack(loss="margin")
    x = attack(one_hop, data, nodes=NODES[:1], budget=1, rows=torch.tensor([3]))

    def value(x):
        out = one_hop(x, data.edge_index)
        return float(make_loss("margin")(out[NODES[:1]], data.y[NODES[:1]]))

    tries = [data.x]
    for column in range(3):
        flipped = data.x.clone()
        flipped[3, column] = 1 - flipped[3, column]
        tries.append(flipped)
    assert value(x) == max(map(value, tries))


def test_feature_attack_goes_through_the_cosines_of_gadc():
    data = communities(10)
    fitted = GADC(variant="IV", series="last", num_steps=2, epochs=40, lr=0.1).fit(data, seed=0)
    x = FeatureAttack(norm="l2")(fitted.scores, data, nodes=NODES, budget=0.5)
    assert _value(fitted.scores, data, x) > _value(fitted.scores, data, data.x)


def test_feature_attack_refuses_bad_input():
    with pytest.raises(ValueError, match="x must hold only 0 and 1"):
        FeatureAttack()(one_hop, communities(6), nodes=NODES[:1], budget=1)
    with pytest.raises(ValueError, match="norm must be one of 'l0', 'l2', got 'l1'"):
        FeatureAttack(norm="l1")
