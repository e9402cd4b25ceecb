"""AdversarialGPRGNN: what it is trained on, and how it differs from GPRGNN."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy

from gadc.datasets import csbm
from gadc.models import GPRGNN, AdversarialGPRGNN, Callback
from gadc.models._training import adversary
from gadc.robustness import make_attack
from tests.helpers.edge_gradient import check_edge_gradient
from tests.helpers.tiny import tiny_data

FEW = {"epochs": 4, "hidden": 8, "clean_epochs": 1, "attack_steps": 2}


@pytest.fixture
def searches(monkeypatch):
    """The adversaries, in the order of their searches."""
    found = []
    attack = adversary.EdgeAdversary.attack
    monkeypatch.setattr(
        adversary.EdgeAdversary, "attack", lambda self, scores: (found.append(self), attack(self, scores))[1]
    )
    return found


def test_first_epochs_are_clean_and_every_epoch_is_validated_under_attack(searches):
    AdversarialGPRGNN(**FEW).fit(tiny_data())
    training = [one for one in searches if 0 in one.nodes]
    assert (len(training), len(searches) - len(training)) == (3, 4)


def test_validation_labels_choose_the_epoch_and_are_not_trained_on(searches):
    AdversarialGPRGNN(**FEW).fit(tiny_data())
    nodes = {tuple(one.nodes.tolist()) for one in searches}
    assert nodes == {tuple(range(10, 20)), (*range(10), *range(20, 30))}


def test_guesses_of_a_clean_model_stand_for_missing_labels(searches):
    data = tiny_data()
    model = AdversarialGPRGNN(**FEW)
    model.fit(data)
    clean = GPRGNN(epochs=4, hidden=8, dropout=0.2).fit(data).logits.argmax(1)
    [trained, *_] = [one for one in searches if 0 in one.nodes]
    assert torch.equal(trained.labels[:10], data.y[:10])
    assert torch.equal(trained.labels[10:], clean[20:])
    searches.clear()
    replace(model, pseudo_labels=False).fit(data)
    assert {len(one.nodes) for one in searches} == {10}


def test_budget_is_a_share_of_the_edges_at_the_attacked_nodes(searches):
    data = tiny_data()
    AdversarialGPRGNN(**FEW, rate=0.5).fit(data)
    first, second = data.edge_index
    for one in searches:
        touched = (torch.isin(first, one.nodes) | torch.isin(second, one.nodes)) & (first < second)
        assert one.budget == round(0.5 * int(touched.sum()))


def test_training_without_a_budget_differs_from_gprgnn_by_the_guesses_alone():
    data = tiny_data()
    model = AdversarialGPRGNN(epochs=4, hidden=8, dropout=0.5, rate=0.0, pseudo_labels=False)
    assert torch.allclose(model.fit(data, seed=1).logits, GPRGNN(epochs=4, hidden=8).fit(data, seed=1).logits)


def test_adversarial_training_loses_less_under_attack():
    """At the nodes that were trained on: what other nodes gain depends on the graph."""
    data = csbm(60, num_features=8, seed=1)
    nodes = torch.nonzero(data.train_mask).squeeze(1)
    settings = {"epochs": 30, "hidden": 8, "lr": 0.05, "dropout": 0.0, "selection": "last", "patience": None}
    attacks = {"rate": 0.3, "attack_steps": 5, "block_size": 500, "clean_epochs": 0, "pseudo_labels": False}
    losses = []
    for model in (GPRGNN(**settings), AdversarialGPRGNN(**settings, **attacks)):
        scores = model.fit(data).scores
        prbcd = make_attack("prbcd", num_steps=20, resampling_steps=15, block_size=1000)
        flips = prbcd(scores, data, nodes=nodes, budget=30)
        changed = flips.apply(data)
        with torch.no_grad():
            found = scores(changed.x, changed.edge_index)
        losses.append(float(cross_entropy(found[nodes], data.y[nodes])))
    assert losses[1] < 0.8 * losses[0], losses


def test_training_needs_no_validation_nodes_if_the_last_epoch_is_kept():
    data = tiny_data()
    data.val_mask[:] = False
    fitted = AdversarialGPRGNN(**FEW, selection="last", patience=None).fit(data)
    assert fitted.trained.epoch == 3
    assert bool(fitted.logits.isfinite().all())


def test_callbacks_see_the_attacked_training_alone():
    class Count(Callback):
        starts = epochs = 0

        def on_start(self, state):
            self.starts += 1
            assert not state.resumable

        def on_epoch(self, state):
            self.epochs += 1

    count = Count()
    AdversarialGPRGNN(**FEW).fit(tiny_data(), callbacks=[count])
    assert (count.starts, count.epochs) == (1, 4)


def test_training_is_not_differentiated():
    assert AdversarialGPRGNN(**FEW).through_training(tiny_data()) is None


def test_gradient_in_the_edge_weights():
    check_edge_gradient(AdversarialGPRGNN(**FEW))


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"rate": 1.5}, "rate must"),
        ({"attack_steps": 0}, "attack_steps must"),
        ({"block_size": 0}, "block_size must"),
        ({"clean_epochs": -1}, "clean_epochs must"),
    ],
)
def test_settings_are_checked(settings, rule):
    with pytest.raises(ValueError, match=f"AdversarialGPRGNN: {rule}"):
        AdversarialGPRGNN(**settings)
