"""The only training loop: Adam on the cross-entropy of training nodes; validation nodes choose the epoch.

"val-acc"    first epoch of the highest validation accuracy
"val-ranked" epoch of the highest validation accuracy, and of the lowest loss among those
"val-loss"   epoch of the lowest validation cross-entropy
"val-last"   last epoch at which the loss fell below, or the accuracy rose above, all earlier ones
"val-both"   last epoch at which neither the loss nor the accuracy was worse than at any earlier one
"window"     no selection, but stop once the loss exceeds the mean of the ten epochs before
"last"       no selection

The published baselines differ in that choice, and where features are noisy the figures differ by it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from gadc._base.validation import check_choice, check_count, check_number
from gadc.models._fast.dropout import drawn_ahead, sharing_passes
from gadc.models._training.checkpoints import Checkpoint, Progress, next_checkpoint

SELECTIONS = ("val-acc", "val-ranked", "val-loss", "val-last", "val-both", "window", "last")
WINDOW = 10


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a model is trained.

    Args:
        lr: Learning rate of Adam.
        weight_decay: Its L2 term.
        epochs: Full-batch steps.
        selection: Which epoch's weights are kept.
        patience: Stop after so many epochs without an improvement of what is selected on (of either figure
            where there are two); None runs all epochs.
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
    """What came of it: the chosen epoch, its validation figures, and the curves."""

    epoch: int
    val_accuracy: float
    val_loss: float
    train_losses: list[float] = field(repr=False)
    val_accuracies: list[float] = field(repr=False)


def accuracy(scores: Tensor, labels: Tensor) -> float:
    """Share of rows, in percent, whose highest score is the label's."""
    return 100.0 * float((scores.argmax(-1) == labels).double().mean()) if len(labels) else math.nan


@sharing_passes()
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
    optimizer_type: type[torch.optim.Optimizer] = torch.optim.Adam,
    schedule: Callable[[int], float] | None = None,
    resumable: bool = False,
) -> Trained:
    """Train `module` in place and leave it in evaluation mode with the weights of the chosen epoch.

    Args:
        module: Holds the parameters; switched between training and evaluation mode.
        train_scores: Scores of the training nodes.
        val_scores: Scores of the validation nodes; called without gradients.
        train_labels: Their labels.
        val_labels: Labels of the validation nodes.
        settings: Optimiser and model selection.
        parameters: Parameter groups of the optimiser, where they are not all treated alike.
        penalty: What is added to the loss of a step, called after `train_scores`.
        optimizer_type: Takes the parameters, `lr` and `weight_decay`.
        schedule: What the learning rate is multiplied by in a step, given its number from 0.
        resumable: Whether the module, the optimiser and torch's random numbers are all its state, so that it
            can be stored (`gadc.models._training.checkpoints`).
    """
    if settings.selection != "last" and not len(val_labels):
        raise ValueError(f"train: selection {settings.selection!r} needs validation nodes, got none.")
    optimizer = optimizer_type(
        module.parameters() if parameters is None else parameters,
        lr=settings.lr,  # type: ignore[call-arg]
        weight_decay=settings.weight_decay,
    )
    scheduler = None if schedule is None else torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)

    def loss() -> Tensor:
        fit = cross_entropy(train_scores(), train_labels)
        return fit if penalty is None else fit + penalty()

    selection = _Selection(settings, module)
    losses: list[float] = []
    checkpoint = next_checkpoint() if resumable else None
    if checkpoint is not None:
        losses = selection.resume(checkpoint, optimizer)
    for _ in range(len(losses), settings.epochs):
        losses.append(_step(module, loss, optimizer, scheduler))
        before = torch.get_rng_state()
        if selection.ends(*_validate(module, val_scores, val_labels)):
            break
        if checkpoint is not None and checkpoint.due():
            # Where the evaluation drew for the step after it, that step draws the same from the state before.
            random = before if drawn_ahead() else torch.get_rng_state()
            selection.store(checkpoint, optimizer, losses, random)
    module.load_state_dict(selection.state)
    module.eval()
    return Trained(selection.epoch, selection.accuracy, selection.loss, losses, selection.accuracies)


def _step(
    module: nn.Module,
    loss: Callable[[], Tensor],
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None,
) -> float:
    """One step of the optimiser; the loss that it was taken at."""
    module.train()
    optimizer.zero_grad()
    value = loss()
    value.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    if scheduler is not None:
        scheduler.step()
    return value.item()


_FIGURES = ("epoch", "loss", "accuracy", "losses", "accuracies", "lowest", "highest", "idle")


class _Selection:
    """Follows the validation figures: which epoch's weights to keep, and when to stop."""

    def __init__(self, settings: Training, module: nn.Module) -> None:
        self.settings, self.module = settings, module
        self.epoch, self.loss, self.accuracy = -1, math.nan, math.nan
        self.state = copy.deepcopy(module.state_dict())
        self.losses: list[float] = []
        self.accuracies: list[float] = []
        self.lowest, self.highest, self.idle = math.inf, -math.inf, 0

    def store(
        self,
        checkpoint: Checkpoint,
        optimizer: torch.optim.Optimizer,
        train_losses: list[float],
        random: Tensor,
    ) -> None:
        """Put down how far training is."""
        figures = {name: getattr(self, name) for name in _FIGURES}
        progress = Progress({**figures, "train_losses": train_losses}, self.state, random)
        checkpoint.save(self.module, optimizer, progress)

    def resume(self, checkpoint: Checkpoint, optimizer: torch.optim.Optimizer) -> list[float]:
        """Go on from what is stored, if anything is; the training losses up to there."""
        progress = checkpoint.restore(self.module, optimizer)
        if progress is None:
            return []
        for name in _FIGURES:
            setattr(self, name, progress.figures[name])
        self.state = progress.best
        torch.set_rng_state(progress.random)
        losses: list[float] = progress.figures["train_losses"]
        return losses

    def ends(self, loss: float, accuracy: float) -> bool:
        """Whether training ends with this epoch, whose weights are kept if it is better."""
        keep, progress = _judge(self.settings.selection, loss, accuracy, self.lowest, self.highest, self.loss)
        if keep:
            self.epoch, self.loss, self.accuracy = len(self.losses), loss, accuracy
            self.state = copy.deepcopy(self.module.state_dict())
        self.losses.append(loss)
        self.accuracies.append(accuracy)
        # NaN is neither lower nor higher.
        self.lowest = loss if loss < self.lowest else self.lowest
        self.highest = accuracy if accuracy > self.highest else self.highest
        self.idle = 0 if progress else self.idle + 1
        rises = self.settings.selection == "window" and _rises(self.losses)
        return rises or self.idle == self.settings.patience


def _judge(
    selection: str, loss: float, accuracy: float, lowest: float, highest: float, kept_loss: float
) -> tuple[bool, bool]:
    """Whether an epoch is kept, and whether it renews the patience, given the best figures before it."""
    good, right = loss <= lowest, accuracy >= highest
    if selection == "val-both":
        return good and right, good or right
    if selection == "val-ranked":
        return accuracy > highest or (right and loss < kept_loss), good or right
    better, righter = loss < lowest, accuracy > highest
    keep = {"val-loss": better, "val-acc": righter, "val-last": better or righter}.get(selection, True)
    return keep, keep


def _rises(losses: list[float]) -> bool:
    """Whether the last loss exceeds the mean of the window before it, once there is more than a window."""
    return len(losses) > WINDOW + 1 and losses[-1] > sum(losses[-WINDOW - 1 : -1]) / WINDOW


@torch.no_grad()
def _validate(module: nn.Module, scores: Callable[[], Tensor], labels: Tensor) -> tuple[float, float]:
    """Loss and accuracy of the validation nodes."""
    module.eval()
    out = scores()
    loss = cross_entropy(out, labels).item()
    return loss, math.nan if math.isnan(loss) else accuracy(out, labels)  # `argmax` names a class among NaN
