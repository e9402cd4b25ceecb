"""Attacks through the training, and the functions of the graph that they differentiate."""

import pytest
import torch
from torch.nn.functional import one_hot

from gadc.datasets import csbm
from gadc.models import make_model
from gadc.models._training.loop import accuracy
from gadc.robustness.attacks import make_attack, retraining_scores, stand_in_scores, training_scores
from gadc.robustness.attacks._base import Problem, Rules
from gadc.robustness.attacks._poisoning import with_known_labels
from tests.helpers import dense

DATA = csbm(90, homophily=0.9, signal=1.0, seed=0)
NODES = torch.nonzero(DATA.test_mask).flatten()
STAND_IN = stand_in_scores(DATA)


def retrained(model, flips):
    changed = flips.apply(DATA)
    return accuracy(model.fit(changed, seed=0).logits[NODES], DATA.y[NODES])


def test_stand_in_is_ridge_regression_on_two_hop_features():
    x = DATA.x.double()
    data = DATA.clone()
    data.x = x
    graph = dense.normalized(dense.adjacency(DATA.edge_index, None, 90))
    rows = graph @ graph @ x
    known = rows[DATA.train_mask]
    targets = one_hot(DATA.y[DATA.train_mask], 2).double() - 0.5
    gram = known.T @ known + 0.01 * known.square().sum() * torch.eye(x.shape[1])
    expected = rows @ torch.linalg.solve(gram, known.T @ targets)
    found = stand_in_scores(data)(x, data.edge_index)
    assert torch.allclose(found, expected)


def test_stand_in_keeps_the_leading_singular_vectors():
    full, narrow = (stand_in_scores(DATA, rank=rank)(DATA.x, DATA.edge_index) for rank in (100, 3))
    assert full.shape == narrow.shape
    assert not torch.allclose(full, narrow)


@pytest.mark.parametrize("name", ["poison-pgd", "poison-prbcd"])
def test_poisoning_through_the_training_is_stronger_than_random_flips(name):
    model = make_model("s2gc", epochs=50)
    budget = 40
    attack = make_attack(name, num_steps=30, **({"resampling_steps": 20} if "prbcd" in name else {}))
    assert attack.attacks_training
    flips = attack(training_scores(model, DATA), DATA, nodes=NODES, budget=budget)
    drawn = make_attack("random")(None, DATA, nodes=NODES, budget=budget)
    assert retrained(model, flips) < retrained(model, drawn) - 10


def test_poison_eva_attacks_any_training_and_is_stronger_than_random_flips():
    class Nearest:
        """A model without a gradient: the class of the nearest class centre by sums over neighbours."""

        def __call__(self, data, seed):
            def summed(x, edge_index):
                return x.index_add(0, edge_index[0], x[edge_index[1]]).detach()

            known = summed(data.x, data.edge_index)[data.train_mask]
            centres = torch.stack([known[data.y[data.train_mask] == one].mean(0) for one in (0, 1)])
            return lambda x, edge_index, edge_weight=None: -torch.cdist(summed(x, edge_index), centres)

    scores = retraining_scores(Nearest(), DATA)

    def left(flips):
        changed = flips.apply(DATA)
        return accuracy(scores(changed.x, changed.edge_index)[NODES], DATA.y[NODES])

    attack = make_attack("poison-eva", num_generations=15, population=10)
    assert attack.attacks_training
    assert not attack.needs_gradient
    found = left(attack(scores, DATA, nodes=NODES, budget=40))
    drawn = [make_attack("random")(None, DATA, nodes=NODES, budget=40, seed=seed) for seed in range(10)]
    assert found < min(left(one) for one in drawn)


@pytest.mark.parametrize("name", ["poison-pgd", "poison-prbcd", "poison-eva"])
def test_every_attack_on_the_training_knows_both_levels(name):
    short = {"num_generations": 1, "population": 3} if name == "poison-eva" else {"num_steps": 1}
    hidden = DATA.clone()
    hidden.y[~DATA.train_mask] = 1 - hidden.y[~DATA.train_mask]
    found = [
        make_attack(name, known_labels=known, **short)(
            STAND_IN, data, nodes=NODES, budget=20
        ).pairs.T.tolist()
        for data in (DATA, hidden)
        for known in ("training", "all")
    ]
    assert found[0] == found[2]  # labels of other nodes are not looked at
    assert found[1] != found[3]


def test_poisoning_with_training_labels_sees_no_other_label():
    problem = Problem(scores=stand_in_scores(DATA), data=DATA, nodes=NODES, budget=5, seed=0, rules=Rules())
    known = with_known_labels(problem, "training").data.y
    hidden = DATA.clone()
    hidden.y[~DATA.train_mask] = 1 - hidden.y[~DATA.train_mask]
    again = with_known_labels(
        Problem(scores=stand_in_scores(hidden), data=hidden, nodes=NODES, budget=5, seed=0, rules=Rules()),
        "training",
    ).data.y
    assert torch.equal(known, again)
    assert torch.equal(known[DATA.train_mask], DATA.y[DATA.train_mask])
    assert with_known_labels(problem, "all") is problem
    with pytest.raises(ValueError, match="known_labels must be one of 'all', 'training', got 'none'"):
        make_attack("poison-pgd", known_labels="none")


def test_training_scores_fall_back_to_the_stand_in():
    mlp = make_model("mlp", epochs=2)
    found = training_scores(mlp, DATA)(DATA.x, DATA.edge_index)
    assert torch.equal(found, stand_in_scores(DATA)(DATA.x, DATA.edge_index))
    assert torch.equal(training_scores(None, DATA)(DATA.x, DATA.edge_index), found)
