"""Many heads at once are the same as one after the other."""

import pytest
import torch
from torch import nn

from gadc.linear_heads import train_linear_heads
from gadc.training import Training, train


@pytest.fixture
def rows():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(60, 7, generator=generator, dtype=torch.float64)
    y = (x[:, :3] + 0.5 * torch.randn(60, 3, generator=generator, dtype=torch.float64)).argmax(1)
    return x, y


def _one(x, y, settings, seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        head = nn.Linear(7, 3).double()
    trained = train(head, lambda: head(x[:30]), lambda: head(x[30:]), y[:30], y[30:], settings)
    return head, trained


@pytest.mark.parametrize("selection", ["val-acc", "val-loss", "last"])
def test_all_at_once_equals_one_after_another(rows, selection):
    x, y = rows
    settings = Training(lr=0.2, weight_decay=1e-2, epochs=40, selection=selection)
    heads = train_linear_heads(x[:30], y[:30], x[30:], y[30:], 3, settings, seeds=range(5))
    scores = heads(x)
    assert scores.shape == (5, 60, 3)
    epochs = set()
    for seed in range(5):
        head, trained = _one(x, y, settings, seed)
        torch.testing.assert_close(scores[seed], head(x).detach())
        assert heads.trained[seed].epoch == trained.epoch
        assert heads.trained[seed].val_accuracy == pytest.approx(trained.val_accuracy)
        assert heads.trained[seed].val_loss == pytest.approx(trained.val_loss)
        assert heads.trained[seed].train_losses == pytest.approx(trained.train_losses)
        assert heads.trained[seed].val_accuracies == pytest.approx(trained.val_accuracies)
        epochs.add(trained.epoch)
    assert selection == "last" or len(epochs) > 1  # each head chose for itself


def test_a_diverged_epoch_is_never_kept(rows):
    x, y = rows
    huge = x * 1e200
    settings = Training(lr=1e200, epochs=3, selection="val-acc")
    heads = train_linear_heads(huge[:30], y[:30], huge[30:], y[30:], 3, settings, seeds=[0, 1])
    for seed in (0, 1):
        assert heads.trained[seed].epoch == _one(huge, y, settings, seed)[1].epoch


def test_randomness_outside_is_left_alone(rows):
    x, y = rows
    before = torch.get_rng_state()
    train_linear_heads(x[:30], y[:30], x[30:], y[30:], 3, Training(epochs=1), seeds=[3])
    assert torch.equal(torch.get_rng_state(), before)


def test_what_it_cannot_do_is_refused(rows):
    x, y = rows
    with pytest.raises(
        ValueError, match="selection must be one of 'val-acc', 'val-loss', 'last', got 'window'"
    ):
        train_linear_heads(x, y, x, y, 3, Training(selection="window"), seeds=[0])
    with pytest.raises(ValueError, match="patience must be None, got 5"):
        train_linear_heads(x, y, x, y, 3, Training(patience=5), seeds=[0])
