"""The training loop, with a module whose validation scores follow a script."""

import math

import pytest
import torch
from torch import nn

from gadc.models._training.loop import Training, accuracy, train
from gadc.models._training.selection import SELECTIONS

# Margins of two validation nodes by epoch: a node is right above 0, and a larger margin is a lower loss.
SCRIPT = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (3.0, 3.0), (2.0, 2.0), (9.0, -9.0)]
NAN = (math.nan, math.nan)


class Scripted(nn.Module):
    """Counts its training steps; after step k its validation margins are the k-th of the script."""

    def __init__(self, script):
        super().__init__()
        self.script = script
        self.weight = nn.Parameter(torch.zeros(1))
        self.register_buffer("step", torch.tensor(-1))
        self.modes = []

    def train_scores(self):
        self.modes.append(("train", self.training, torch.is_grad_enabled()))
        self.step += 1
        return torch.stack([self.weight, torch.zeros(1)], dim=1)

    def val_scores(self):
        self.modes.append(("val", self.training, torch.is_grad_enabled()))
        margins = torch.tensor(self.script[int(self.step)])
        return torch.stack([margins, torch.zeros(2)], dim=1)


def _train(script, selection, *, patience=None):
    module = Scripted(script)
    settings = Training(epochs=len(script), selection=selection, patience=patience)
    labels = torch.zeros(2, dtype=torch.int64)
    return module, train(module, module.train_scores, module.val_scores, labels[:1], labels, settings)


@pytest.mark.parametrize(
    ("selection", "epoch"),
    [
        ("val-acc", 2),
        ("val-ranked", 3),
        ("val-loss", 3),
        ("val-last", 3),
        ("val-both", 3),
        ("window", 5),
        ("last", 5),
    ],
)
def test_selection_keeps_its_epoch(selection, epoch):
    module, trained = _train(SCRIPT, selection)
    assert trained.epoch == epoch
    assert int(module.step) == epoch  # the weights are those of that epoch
    assert trained.val_accuracy == {2: 100.0, 3: 100.0, 5: 50.0}[epoch]
    margins = torch.tensor(SCRIPT[epoch])
    assert trained.val_loss == pytest.approx(float(nn.functional.softplus(-margins).mean()))
    assert not module.training


def test_weights_are_those_of_the_chosen_epoch():
    kept, _ = _train(SCRIPT, "val-acc")
    short, _ = _train(SCRIPT[:3], "last")
    long, _ = _train(SCRIPT, "last")
    assert torch.equal(kept.weight, short.weight)
    assert not torch.equal(kept.weight, long.weight)


def test_curves_cover_all_epochs():
    _, trained = _train(SCRIPT, "val-loss")
    assert trained.val_accuracies == [0.0, 50.0, 100.0, 100.0, 100.0, 50.0]
    assert len(trained.train_losses) == len(SCRIPT)
    assert trained.train_losses[0] == pytest.approx(math.log(2))
    assert trained.train_losses == sorted(trained.train_losses, reverse=True)


def test_training_and_evaluation_take_turns():
    module, _ = _train(SCRIPT[:2], "last")
    assert module.modes == [("train", True, True), ("val", False, False)] * 2


@pytest.mark.parametrize(
    ("script", "epoch"),
    [
        ([(1.0, -1.0), (0.9, 0.1), (0.01, 0.01), (3.0, -3.0)], 1),  # nothing better after 1
        ([(1.0, -1.0), (3.0, -0.5), (0.01, 0.01)], 2),  # accuracy alone rises, the loss does not fall
        ([(0.01, 0.01), (3.0, -0.5)], 1),  # the loss alone falls
        ([(1.0, 1.0), (1.0, 1.0)], 0),  # a tie is no event
    ],
)
def test_val_last_takes_the_last_event_of_either_figure(script, epoch):
    assert _train(script, "val-last")[1].epoch == epoch


@pytest.mark.parametrize(
    ("script", "epoch"),
    [
        ([(1.0, 1.0), (1.0, 1.0)], 1),  # a tie will do
        ([(0.01, 0.01), (3.0, -0.5)], 0),  # a lower loss at a lower accuracy
        ([(3.0, -0.5), (0.01, 0.01)], 0),  # a higher accuracy at a higher loss
        ([(0.1, 0.1), (3.0, -0.5), (0.3, 0.3)], 0),  # 2 beats 0, which is kept, but not the loss of 1
        ([(0.1, 0.1), (3.0, -0.5), (0.9, 0.9)], 2),
    ],
)
def test_val_both_wants_both_figures_at_once(script, epoch):
    assert _train(script, "val-both")[1].epoch == epoch


@pytest.mark.parametrize(
    ("script", "epoch"),
    [
        ([(1.0, 1.0), (1.0, 1.0)], 0),  # a tie of both figures is no event
        ([(0.1, 0.1), (0.3, 0.3), (0.2, 0.2)], 1),  # equal accuracies: the lowest loss
        ([(0.1, 0.1), (3.0, -0.1)], 0),  # a lower loss at a lower accuracy
        ([(3.0, -0.1), (0.1, 0.1)], 1),  # a higher accuracy at a higher loss
        ([(3.0, -0.1), (0.1, 0.1), (0.2, 0.2)], 2),  # lower than the loss kept, if not the lowest
    ],
)
def test_val_ranked_takes_the_lowest_loss_among_the_highest_accuracies(script, epoch):
    assert _train(script, "val-ranked")[1].epoch == epoch


def _flat(*margins):
    return [(margin, margin) for margin in margins]


@pytest.mark.parametrize(
    ("margins", "epochs"),
    [
        ([0.0] * 30, 30),  # equal to the mean is not above it
        ([1.0] * 15 + [0.9] + [1.0] * 9, 16),
        ([1.0] * 10 + [0.5, 1.0, 1.0], 13),  # too early, at epochs up to 10
        ([1.0] * 11 + [0.5, 1.0, 1.0], 12),
        ([2.0] * 5 + [0.0] * 15, 12),  # the mean is that of the ten before, not of the last one
        ([0.0] * 9 + [2.0] * 5 + [1.9] * 8, 20),
    ],
)
def test_window_stops_above_the_mean_of_the_ten_epochs_before(margins, epochs):
    module, trained = _train(_flat(*margins), "window")
    assert len(trained.train_losses) == epochs
    assert trained.epoch == int(module.step) == epochs - 1


@pytest.mark.parametrize(
    ("selection", "script", "epochs"),
    [
        ("val-loss", _flat(1, 2, 1, 3, 1, 1, 4), 6),  # progress at 1 and 3, idle at 4 and 5
        ("val-acc", _flat(1, 2, 3, 4), 3),  # accuracy stays, whatever the loss does
        ("val-last", [(-1, -1), (-2, 0.1), (-1, -0.5), (-3, -3), (-3, -3), (9, 9)], 5),
        ("val-both", [(0.2, 0.2), (0.1, 0.1), (3, -0.5), (1, -9), (1, -9), (9, 9)], 5),
        ("val-ranked", [(0.2, 0.2), (0.1, 0.1), (3, -0.1), (1, -9), (1, -9), (9, 9)], 5),  # ties renew it
        ("val-loss", [NAN] * 3 + _flat(1), 2),
    ],
)
def test_patience_ends_training(selection, script, epochs):
    _, trained = _train([tuple(map(float, pair)) for pair in script], selection, patience=2)
    assert len(trained.train_losses) == epochs


def test_parameter_groups_reach_the_optimiser():
    module = nn.Sequential(nn.Linear(1, 2, bias=False), nn.Linear(2, 2, bias=False))
    with torch.no_grad():
        for layer in module:
            layer.weight.fill_(1.0)
    groups = [
        {"params": module[0].parameters()},
        {"params": module[1].parameters(), "weight_decay": 0.0},
    ]
    labels = torch.tensor([0])

    def scores():
        return 0.0 * module(torch.ones(1, 1))

    settings = Training(lr=0.25, weight_decay=0.1, epochs=1, selection="last")
    train(module, scores, scores, labels, labels, settings, parameters=groups)
    assert module[0].weight.detach() == pytest.approx(torch.full((2, 1), 0.75), rel=1e-5)
    assert torch.equal(module[1].weight.detach(), torch.ones(2, 2))


@pytest.mark.parametrize("selection", ["val-acc", "val-ranked", "val-loss", "val-last", "val-both"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_loss_that_is_not_a_number_never_wins(selection, place):
    """Where scores are NaN, `argmax` still names a class, so their accuracy alone would tell nothing."""
    script = [(1.0, -1.0), (2.0, -1.0)]
    script.insert(place, NAN)
    module, trained = _train(script, selection)
    assert int(module.step) == trained.epoch != place
    assert math.isfinite(trained.val_loss)


@pytest.mark.parametrize("selection", ["val-acc", "val-ranked", "val-loss", "val-last", "val-both"])
def test_without_any_number_the_first_weights_are_kept(selection):
    module, trained = _train([NAN, NAN], selection)
    assert trained.epoch == -1
    assert int(module.step) == -1
    assert math.isnan(trained.val_loss)


def test_weight_decay_and_rate_reach_the_optimiser():
    module = nn.Linear(1, 2, bias=False)
    with torch.no_grad():
        module.weight.fill_(1.0)
    labels = torch.tensor([0])

    def scores():
        return 0.0 * module(torch.ones(1, 1))  # no gradient but that of the decay

    train(
        module,
        scores,
        scores,
        labels,
        labels,
        Training(lr=0.25, weight_decay=0.1, epochs=1, selection="last"),
    )
    assert module.weight.detach() == pytest.approx(
        torch.full((2, 1), 0.75), rel=1e-5
    )  # Adam's first step is lr


def _train_one(module, epochs, *, lr=0.25, weight_decay=0.0, **hooks):
    """Train on scores that have no gradient of their own."""
    labels = torch.tensor([0])

    def scores():
        return 0.0 * module(torch.ones(1, 1))

    settings = Training(lr=lr, weight_decay=weight_decay, epochs=epochs, selection="last")
    return train(module, scores, scores, labels, labels, settings, **hooks)


def _ones():
    module = nn.Linear(1, 2, bias=False)
    with torch.no_grad():
        module.weight.fill_(1.0)
    return module


def test_penalty_is_added_to_the_loss():
    module = _ones()
    trained = _train_one(module, 1, penalty=lambda: 3 * module.weight.sum())
    assert trained.train_losses[0] == pytest.approx(math.log(2) + 6)
    assert module.weight.detach() == pytest.approx(torch.full((2, 1), 0.75), rel=1e-5)


def test_schedule_multiplies_the_rate_of_each_step():
    """A constant slope makes each of Adam's steps as long as its rate."""
    module = _ones()
    rates = [0.5, 1.0, 0.0, 0.1]
    _train_one(module, 4, penalty=lambda: module.weight.sum(), schedule=lambda step: [*rates, 0.0][step])
    assert module.weight.detach() == pytest.approx(torch.full((2, 1), 1 - 0.25 * sum(rates)), rel=1e-4)


def test_optimiser_can_be_another():
    """AdamW takes lr · weight_decay of the weights off, whatever the gradient."""
    module = _ones()
    _train_one(module, 1, weight_decay=0.2, optimizer_type=torch.optim.AdamW)
    assert module.weight.detach() == pytest.approx(torch.full((2, 1), 0.95))


def test_accuracy():
    scores = torch.tensor([[2.0, 1.0], [0.0, 1.0], [3.0, 0.0], [1.0, 0.0]])
    assert accuracy(scores, torch.tensor([0, 1, 1, 0])) == 75.0
    assert math.isnan(accuracy(scores[:0], torch.tensor([], dtype=torch.int64)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lr": 0.0}, "lr must be finite and > 0, got 0.0"),
        ({"weight_decay": -1.0}, "weight_decay must be finite and >= 0, got -1.0"),
        ({"epochs": 0}, "epochs must be a whole number >= 1, got 0"),
        ({"patience": 0}, "patience must be a whole number >= 1, got 0"),
        ({"patience": 5, "selection": "last"}, "patience needs a selection on validation nodes, got 'last'"),
        ({"patience": 5, "selection": "window"}, "patience needs .*, got 'window'"),
        ({"selection": "best"}, "selection must be one of .*, got 'best'"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        Training(**settings)


def test_all_selections_are_tested():
    assert set(SELECTIONS) == {"val-acc", "val-ranked", "val-loss", "val-last", "val-both", "window", "last"}
