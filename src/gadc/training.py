"""The only training loop: Adam on the cross-entropy of training nodes; validation nodes choose the epoch.

"val-acc"    first epoch of the highest validation accuracy
"val-loss"   epoch of the lowest validation cross-entropy
"last"       no selection
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from gadc.validation import check_choice, check_count, check_number

SELECTIONS = ("val-acc", "val-loss", "last")


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a model is trained.

    Args:
        lr: Learning rate of Adam.
        weight_decay: Its L2 term.
        epochs: Full-batch steps.
        selection: Which epoch's weights are kept.
    """

    lr: float = 0.01
    weight_decay: float = 5e-4
    epochs: int = 200
    selection: str = "val-acc"

    def __post_init__(self) -> None:
        check_number("Training", self.lr, "lr", strict=True)
        check_number("Training", self.weight_decay, "weight_decay")
        check_count("Training", self.epochs, "epochs", low=1)
        check_choice("Training", self.selection, "selection", SELECTIONS)


@dataclass(frozen=True)
class Trained:
    """What came of it: the chosen epoch, its validation figures, and the curves."""

    epoch: int
    val_accuracy: float
    val_loss: float
    train_losses: list[float] = field(repr=False)
    val_accuracies: list[float] = field(repr=False)


def accuracy(scores: Tensor, labels: Tensor) -> float:
    """Share of rows, in percent, whose highest score is the label's."""
    return 100.0 * float((scores.argmax(-1) == labels).double().mean()) if len(labels) else math.nan


def train(
    module: nn.Module,
    train_scores: Callable[[], Tensor],
    val_scores: Callable[[], Tensor],
    train_labels: Tensor,
    val_labels: Tensor,
    settings: Training,
) -> Trained:
    """Train `module` in place and leave it in evaluation mode with the weights of the chosen epoch.

    Args:
        module: Holds the parameters; switched between training and evaluation mode.
        train_scores: Scores of the training nodes.
        val_scores: Scores of the validation nodes; called without gradients.
        train_labels: Their labels.
        val_labels: Labels of the validation nodes.
        settings: Optimiser and model selection.
    """
    if settings.selection != "last" and not len(val_labels):
        raise ValueError(f"train: selection {settings.selection!r} needs validation nodes, got none.")
    optimizer = torch.optim.Adam(module.parameters(), lr=settings.lr, weight_decay=settings.weight_decay)
    best_score, best_state = -math.inf, copy.deepcopy(module.state_dict())
    best = (-1, math.nan, math.nan)
    losses: list[float] = []
    accuracies: list[float] = []
    for epoch in range(settings.epochs):
        module.train()
        optimizer.zero_grad()
        loss = cross_entropy(train_scores(), train_labels)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
        val_loss, val_accuracy = _validate(module, val_scores, val_labels)
        if math.isnan(val_loss):  # `argmax` names a class even among NaN
            val_accuracy = math.nan
        accuracies.append(val_accuracy)
        score = {"val-acc": val_accuracy, "val-loss": -val_loss, "last": float(epoch)}[settings.selection]
        if score > best_score:  # NaN is never better
            best_score, best_state = score, copy.deepcopy(module.state_dict())
            best = (epoch, val_accuracy, val_loss)
    module.load_state_dict(best_state)
    module.eval()
    return Trained(*best, losses, accuracies)


@torch.no_grad()
def _validate(module: nn.Module, scores: Callable[[], Tensor], labels: Tensor) -> tuple[float, float]:
    module.eval()
    out = scores()
    return cross_entropy(out, labels).item(), accuracy(out, labels)
