"""Callbacks see every epoch of a training and may restore its state."""

import pytest
import torch
from torch import nn

from gadc.models._training.callbacks import Callback
from gadc.models._training.loop import Training, train


class Recorder(Callback):
    """Record what is called, and with how many finished epochs."""

    def __init__(self):
        self.calls = []

    def on_start(self, state):
        self.calls.append(("start", len(state.train_losses), state.resumable))

    def on_epoch(self, state):
        self.calls.append(("epoch", len(state.train_losses), state.resumable))


class Skip(Callback):
    """Pretend that some epochs have been done already."""

    def on_start(self, state):
        state.train_losses += [7.0, 7.0]


def _train(*callbacks, **settings):
    torch.manual_seed(0)
    module, x, y = nn.Linear(3, 2), torch.randn(8, 3), torch.arange(8) % 2
    training = Training(epochs=4, selection="last")
    return train(
        module, lambda: module(x), lambda: module(x), y, y, training, callbacks=callbacks, **settings
    )


@pytest.mark.parametrize("resumable", [False, True])
def test_callbacks_are_called_at_the_start_and_after_every_epoch(resumable):
    recorders = Recorder(), Recorder()
    _train(*recorders, resumable=resumable)
    epochs = [("epoch", number, resumable) for number in (1, 2, 3, 4)]
    assert recorders[0].calls == recorders[1].calls == [("start", 0, resumable), *epochs]


def test_callback_that_overrides_nothing_changes_nothing():
    assert _train(Callback()) == _train()


def test_training_continues_from_the_epoch_that_a_callback_restored():
    recorder = Recorder()
    trained = _train(Skip(), recorder)
    assert len(trained.train_losses) == 4
    assert trained.train_losses[:2] == [7.0, 7.0]
    assert recorder.calls[0][:2] == ("start", 2)
