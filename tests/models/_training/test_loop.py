"""The training loop, with a module whose validation scores follow a script."""

import math

import pytest
import torch
from torch import nn

from gadc.models._training.loop import Training, accuracy, train

# Margins of two validation nodes per epoch: a node is right above 0, and a larger margin means a lower loss.
SCRIPT = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (3.0, 3.0), (2.0, 2.0), (9.0, -9.0)]


class Scripted(nn.Module):
    """Count training steps; after step k the validation margins are the k-th ones of the script."""

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


def _train(script, selection):
    module = Scripted(script)
    settings = Training(epochs=len(script), selection=selection)
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
def test_train_keeps_the_epoch_of_its_selection(selection, epoch):
    module, trained = _train(SCRIPT, selection)
    assert trained.epoch == epoch
    assert int(module.step) == epoch  # the weights of that epoch are kept
    assert trained.val_accuracy == {2: 100.0, 3: 100.0, 5: 50.0}[epoch]
    margins = torch.tensor(SCRIPT[epoch])
    assert trained.val_loss == pytest.approx(float(nn.functional.softplus(-margins).mean()))
    assert not module.training


def test_train_leaves_the_weights_of_the_chosen_epoch():
    kept, _ = _train(SCRIPT, "val-acc")
    short, _ = _train(SCRIPT[:3], "last")
    long, _ = _train(SCRIPT, "last")
    assert torch.equal(kept.weight, short.weight)
    assert not torch.equal(kept.weight, long.weight)


def test_trained_holds_the_curves_of_all_epochs():
    _, trained = _train(SCRIPT, "val-loss")
    assert trained.val_accuracies == [0.0, 50.0, 100.0, 100.0, 100.0, 50.0]
    assert len(trained.train_losses) == len(SCRIPT)
    assert trained.train_losses[0] == pytest.approx(math.log(2))
    assert trained.train_losses == sorted(trained.train_losses, reverse=True)


def test_train_alternates_between_training_and_evaluation_mode():
    module, _ = _train(SCRIPT[:2], "last")
    assert module.modes == [("train", True, True), ("val", False, False)] * 2


def test_train_passes_parameter_groups_to_the_optimiser():
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


def test_train_passes_weight_decay_and_rate_to_the_optimiser():
    module = nn.Linear(1, 2, bias=False)
    with torch.no_grad():
        module.weight.fill_(1.0)
    labels = torch.tensor([0])

    def scores():
        return 0.0 * module(torch.ones(1, 1))  # weight decay is the only gradient

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
    """Train on scores without a gradient."""
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


def test_train_adds_the_penalty_to_the_loss():
    module = _ones()
    trained = _train_one(module, 1, penalty=lambda: 3 * module.weight.sum())
    assert trained.train_losses[0] == pytest.approx(math.log(2) + 6)
    assert module.weight.detach() == pytest.approx(torch.full((2, 1), 0.75), rel=1e-5)


def test_train_multiplies_the_rate_of_each_step_by_the_schedule():
    """Use a constant gradient, which makes each step of Adam as long as its rate."""
    module = _ones()
    rates = [0.5, 1.0, 0.0, 0.1]
    _train_one(module, 4, penalty=lambda: module.weight.sum(), schedule=lambda step: [*rates, 0.0][step])
    assert module.weight.detach() == pytest.approx(torch.full((2, 1), 1 - 0.25 * sum(rates)), rel=1e-4)


def test_train_uses_the_given_optimiser():
    """Check that AdamW shrinks weights by lr · weight_decay, whatever the gradient."""
    module = _ones()
    _train_one(module, 1, weight_decay=0.2, optimizer_type=torch.optim.AdamW)
    assert module.weight.detach() == pytest.approx(torch.full((2, 1), 0.95))


def test_accuracy_is_a_percentage_and_nan_without_rows():
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
def test_training_rejects_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        Training(**settings)


def test_train_never_chooses_scores_of_nan():
    """Check it for scores of NaN, among which `argmax` still names a class."""
    module, trained = _train([(math.nan, math.nan), (-1.0, -1.0)], "val-acc")
    assert (trained.epoch, int(module.step)) == (1, 1)
