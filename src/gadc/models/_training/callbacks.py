"""Callbacks: what a caller may do at the start of a training and after each of its epochs."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import nn

from gadc.models._training.selection import Selection


@dataclass(eq=False)
class TrainingState:
    """What a training carries from one epoch to the next, beside torch's random numbers.

    Attributes:
        module: The module in training, with the weights of the last epoch.
        optimizer: The optimiser.
        selection: The validation figures so far and the best weights.
        train_losses: The training loss of each finished epoch.
        resumable: Whether these parts and torch's random numbers are the whole state, so that a callback can
            store a training and restore it. It is False if a learning-rate schedule or a model keeps state
            elsewhere.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import Callback, make_model
        >>> class CountEpochs(Callback):
        ...     def on_epoch(self, state):
        ...         self.epochs = len(state.train_losses)
        >>> counter = CountEpochs()
        >>> fitted = make_model("gcn", epochs=2).fit(csbm(60, num_features=4, seed=0), callbacks=[counter])
        >>> counter.epochs
        2
    """

    module: nn.Module
    optimizer: torch.optim.Optimizer
    selection: Selection
    train_losses: list[float] = field(default_factory=list)
    resumable: bool = False


class Callback:
    """Base class of callbacks; each method may be overridden and does nothing otherwise.

    One callback may see several trainings, one after another: some models train more than once in `fit`.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import Callback, make_model
        >>> class PrintLoss(Callback):
        ...     def on_epoch(self, state):
        ...         print(f"epoch {len(state.train_losses)}: loss {state.selection.losses[-1]:.1f}")
        >>> data = csbm(60, num_features=4, seed=0)
        >>> fitted = make_model("gcn", epochs=2).fit(data, callbacks=[PrintLoss()])
        epoch 1: loss 0.7
        epoch 2: loss 0.7
    """

    def on_start(self, state: TrainingState) -> None:
        """Run before the first epoch; may restore `state` to a later epoch."""

    def on_epoch(self, state: TrainingState) -> None:
        """Run after the step and the validation of each epoch."""
