"""Model selection: which epoch's weights are kept, by the figures of the validation nodes.

"val-acc"    first epoch of the highest validation accuracy
"val-ranked" epoch of the highest validation accuracy; among equal accuracies, the one of the lowest loss
"val-loss"   epoch of the lowest validation cross-entropy
"val-last"   last epoch at which the loss fell below, or the accuracy rose above, all earlier ones
"val-both"   last epoch at which neither the loss nor the accuracy was worse than at any earlier one
"window"     last epoch, where training stops once the loss exceeds the mean of the ten epochs before
"last"       last epoch

The published baselines differ in this choice, and on noisy features it changes the figures.
"""

from __future__ import annotations

import copy
import math
from typing import Any

from torch import nn

SELECTIONS = ("val-acc", "val-ranked", "val-loss", "val-last", "val-both", "window", "last")
WINDOW = 10
FIGURES = ("epoch", "loss", "accuracy", "losses", "accuracies", "lowest", "highest", "idle")


class Selection:
    """Follow the validation figures, keep the weights of the best epoch and say when to stop.

    Args:
        rule: One of `SELECTIONS`.
        patience: Number of epochs without an improvement after which to stop; None never stops early.
        module: The module in training, whose weights are copied.

    Attributes:
        epoch: The chosen epoch so far; -1 before the first one.
        loss: Its validation loss.
        accuracy: Its validation accuracy in percent.
        weights: Its weights.
        losses: The validation loss of every epoch.
        accuracies: The validation accuracy of every epoch.
    """

    def __init__(self, rule: str, patience: int | None, module: nn.Module) -> None:
        self.rule, self.patience, self.module = rule, patience, module
        self.epoch, self.loss, self.accuracy = -1, math.nan, math.nan
        self.weights: dict[str, Any] = copy.deepcopy(module.state_dict())
        self.losses: list[float] = []
        self.accuracies: list[float] = []
        self.lowest, self.highest, self.idle = math.inf, -math.inf, 0

    def update(self, loss: float, accuracy: float) -> None:
        """Take in the validation figures of an epoch, and keep its weights if it is the best one so far."""
        keep, improves = self._judge(loss, accuracy)
        if keep:
            self.epoch, self.loss, self.accuracy = len(self.losses), loss, accuracy
            self.weights = copy.deepcopy(self.module.state_dict())
        self.losses.append(loss)
        self.accuracies.append(accuracy)
        # NaN is neither lower nor higher, so `min` and `max` would not do.
        self.lowest = loss if loss < self.lowest else self.lowest
        self.highest = accuracy if accuracy > self.highest else self.highest
        self.idle = 0 if improves else self.idle + 1

    @property
    def stops(self) -> bool:
        """Whether training ends here, by patience or by a loss that rises."""
        return self.idle == self.patience or (self.rule == "window" and _rises(self.losses))

    @property
    def figures(self) -> dict[str, Any]:
        """Everything but the weights, as numbers and lists of numbers."""
        return {name: getattr(self, name) for name in FIGURES}

    def restore(self, figures: dict[str, Any], weights: dict[str, Any]) -> None:
        """Return to the point at which `figures` and `weights` were read."""
        for name in FIGURES:
            setattr(self, name, figures[name])
        self.weights = weights

    def _judge(self, loss: float, accuracy: float) -> tuple[bool, bool]:
        """Say whether an epoch is kept, and whether it counts as an improvement for the patience."""
        lower, higher = loss < self.lowest, accuracy > self.highest
        as_low, as_high = loss <= self.lowest, accuracy >= self.highest
        if self.rule == "val-both":
            return as_low and as_high, as_low or as_high
        if self.rule == "val-ranked":
            return higher or (as_high and loss < self.loss), as_low or as_high
        keep = {"val-loss": lower, "val-acc": higher, "val-last": lower or higher}.get(self.rule, True)
        return keep, keep


def _rises(losses: list[float]) -> bool:
    """Whether the last loss exceeds the mean of the window before it, once there is more than a window."""
    return len(losses) > WINDOW + 1 and losses[-1] > sum(losses[-WINDOW - 1 : -1]) / WINDOW
