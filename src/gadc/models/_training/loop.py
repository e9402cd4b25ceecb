"""The training loop of all models: full-batch Adam on the cross-entropy of the training nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from gadc._base.scalars import check_choice, check_count, check_number
from gadc.models._training.callbacks import Callback, TrainingState
from gadc.models._training.loss import weighted_cross_entropy
from gadc.models._training.selection import SELECTIONS, Selection


@dataclass(frozen=True, kw_only=True)
class Training:
    """Settings of a training.

    Args:
        lr: Learning rate of Adam.
        weight_decay: Factor of the L2 penalty.
        epochs: Maximum number of full-batch steps.
        selection: Which epoch's weights are kept, see `gadc.models._training.selection`.
        patience: Number of epochs without an improvement of the selected figure (of either figure, where the
            rule has two) after which training stops; None runs all epochs.
    """

    lr: float = 0.01
    weight_decay: float = 5e-4
    epochs: int = 200
    selection: str = "val-acc"
    patience: int | None = None

    def __post_init__(self) -> None:
        check_number("Training", self.lr, "lr", strict=True)
        check_number("Training", self.weight_decay, "weight_decay")
        check_count("Training", self.epochs, "epochs", low=1)
        check_choice("Training", self.selection, "selection", SELECTIONS)
        if self.patience is not None:
            check_count("Training", self.patience, "patience", low=1)
            if self.selection in ("window", "last"):
                raise ValueError(
                    f"Training: patience needs a selection on validation nodes, got {self.selection!r}."
                )


@dataclass(frozen=True)
class Trained:
    """Outcome of a training.

    Attributes:
        epoch: The chosen epoch, from 0.
        val_accuracy: Its validation accuracy in percent.
        val_loss: Its validation loss.
        train_losses: The training loss of every epoch.
        val_accuracies: The validation accuracy of every epoch.
    """

    epoch: int
    val_accuracy: float
    val_loss: float
    train_losses: list[float] = field(repr=False)
    val_accuracies: list[float] = field(repr=False)


def accuracy(scores: Tensor, labels: Tensor) -> float:
    """Return the percentage of rows whose highest score belongs to the label; NaN without rows."""
    return 100.0 * float((scores.argmax(-1) == labels).double().mean()) if len(labels) else math.nan


def train(
    module: nn.Module,
    train_scores: Callable[[], Tensor],
    val_scores: Callable[[], Tensor],
    train_labels: Tensor,
    val_labels: Tensor,
    settings: Training,
    *,
    parameters: list[dict[str, Any]] | None = None,
    penalty: Callable[[], Tensor] | None = None,
    class_weight: Tensor | None = None,
    sample_weights: tuple[Tensor | None, Tensor | None] = (None, None),
    optimizer_type: type[torch.optim.Optimizer] = torch.optim.Adam,
    schedule: Callable[[int], float] | None = None,
    resumable: bool = False,
    callbacks: Sequence[Callback] = (),
) -> Trained:
    """Train `module` in place and leave it in evaluation mode with the weights of the chosen epoch.

    Args:
        module: Holds the parameters; switched between training and evaluation mode.
        train_scores: Returns the scores of the training nodes.
        val_scores: Returns the scores of the validation nodes; called without gradients.
        train_labels: Labels of the training nodes.
        val_labels: Labels of the validation nodes.
        settings: Optimiser and model selection.
        parameters: Parameter groups of the optimiser; None is one group of all parameters.
        penalty: Returns a term that is added to the loss of a step; called after `train_scores`.
        class_weight: Weight of each class in the losses; None weighs all classes alike.
        sample_weights: Weights of the training nodes and of the validation nodes in the losses; None weighs
            all nodes alike.
        optimizer_type: Class of the optimiser, called with the parameters, `lr` and `weight_decay`.
        schedule: Maps the number of a step, from 0, to a factor of its learning rate; None is a factor of 1.
        resumable: See `TrainingState`.
        callbacks: Called at the start and after every epoch.
    """
    if settings.selection != "last" and not len(val_labels):
        raise ValueError(f"train: selection {settings.selection!r} needs validation nodes, got none.")
    optimizer = optimizer_type(
        module.parameters() if parameters is None else parameters,
        lr=float(settings.lr),  # type: ignore[call-arg]  # torch takes no integers beyond 64 bits
        weight_decay=float(settings.weight_decay),
    )
    scheduler = None if schedule is None else torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)

    def loss() -> Tensor:
        fit = weighted_cross_entropy(train_scores(), train_labels, class_weight, sample_weights[0])
        return fit if penalty is None else fit + penalty()

    selection = Selection(settings.selection, settings.patience, module)
    state = TrainingState(module, optimizer, selection, resumable=resumable)
    for callback in callbacks:
        callback.on_start(state)
    while len(state.train_losses) < settings.epochs and not selection.stops:
        state.train_losses.append(_step(module, loss, optimizer))
        if scheduler is not None:
            scheduler.step()
        selection.update(*_validate(module, val_scores, val_labels, class_weight, sample_weights[1]))
        for callback in callbacks:
            callback.on_epoch(state)
    module.load_state_dict(selection.weights)
    module.eval()
    return Trained(
        selection.epoch, selection.accuracy, selection.loss, state.train_losses, selection.accuracies
    )


def _step(module: nn.Module, loss: Callable[[], Tensor], optimizer: torch.optim.Optimizer) -> float:
    """Take one step of the optimiser and return the loss before it."""
    module.train()
    optimizer.zero_grad()
    value = loss()
    value.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return value.item()


@torch.no_grad()
def _validate(
    module: nn.Module,
    scores: Callable[[], Tensor],
    labels: Tensor,
    class_weight: Tensor | None,
    sample_weight: Tensor | None,
) -> tuple[float, float]:
    """Return loss and accuracy of the validation nodes."""
    module.eval()
    out = scores()
    loss = weighted_cross_entropy(out, labels, class_weight, sample_weight).item()
    return loss, math.nan if math.isnan(loss) else accuracy(out, labels)  # `argmax` names a class among NaN
