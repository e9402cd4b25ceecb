"""Training of the modules of candidates: Adam on labelled nodes, in batches, until a moment in time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gadc.models._training.loss import weighted_cross_entropy

BATCH = 4096  # nodes per step, at most
_TEMPERATURES = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How a module is trained.

    Args:
        lr: Learning rate of Adam, 0.01 by default.
        weight_decay: Factor of the L2 penalty, 5e-4 by default.
        epochs: Largest number of epochs, 200 by default.
        patience: Epochs without a lower validation loss after which training stops, 20 by default.
        calibrated: Whether the validation loss is taken after the scores were divided by the best of a few
            temperatures, False by default. A head with many weights soon becomes too sure of itself, while
            its choices still get better; the temperature is corrected at the end anyway.
    """

    lr: float = 0.01
    weight_decay: float = 5e-4
    epochs: int = 200
    patience: int = 20
    calibrated: bool = False


@dataclass(frozen=True)
class Nodes:
    """What to train on.

    Attributes:
        train: Numbers of the training nodes.
        validation: Numbers of the validation nodes; none trains for exactly `epochs`.
        y: Class of each node, read at these nodes only.
        num_classes: Number of classes.
        weight: Weight of each class in the loss, or None.
        epochs: Number of epochs where there are no validation nodes; None is the schedule's own.
        until: Moment at which training stops, as `time.monotonic` counts.
        seed: Seed of the weights, of dropout and of the batches.
        sample_weight: Weight of each node of the graph in the loss, or None.
    """

    train: Tensor
    validation: Tensor
    y: Tensor
    num_classes: int
    weight: Tensor | None = None
    epochs: int | None = None
    until: float = math.inf
    seed: int = 0
    sample_weight: Tensor | None = None

    def loss(self, scores: Tensor, some: Tensor) -> Tensor:
        """Return the loss of some nodes, given their scores."""
        weight = None if self.sample_weight is None else self.sample_weight[some]
        return weighted_cross_entropy(scores, self.y[some], self.weight, weight)


def train(
    module: nn.Module,
    scores: Callable[[Tensor], Tensor],
    nodes: Nodes,
    schedule: Schedule,
    *,
    whole: bool = False,
) -> int:
    """Train `module` in place, keep the weights of the lowest validation loss, and return their epoch.

    Args:
        module: The module, which is left in evaluation mode.
        scores: Returns the scores of some nodes, given their numbers.
        nodes: The nodes, and when to stop.
        schedule: How to train.
        whole: Whether one call of `scores` costs the same for all nodes as for some; then each epoch is one
            step with all nodes.
    """
    optimizer = torch.optim.Adam(
        module.parameters(), lr=schedule.lr, weight_decay=schedule.weight_decay, fused=True
    )
    epochs = schedule.epochs if nodes.epochs is None else nodes.epochs
    best, best_epoch, weights = math.inf, 0, _copy(module)
    for epoch in range(epochs):
        module.train()
        for batch in _batches(nodes.train, whole):
            optimizer.zero_grad()
            loss = nodes.loss(scores(batch), batch)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        if len(nodes.validation):
            module.eval()
            with torch.no_grad():
                value = _validation_loss(scores(nodes.validation), nodes, schedule.calibrated)
            if value < best:
                best, best_epoch, weights = value, epoch, _copy(module)
            if epoch - best_epoch >= schedule.patience:
                break
        if time.monotonic() > nodes.until:
            break
    if len(nodes.validation):
        for parameter, kept in zip(module.parameters(), weights, strict=True):
            parameter.data.copy_(kept)
    module.eval()
    return best_epoch + 1 if len(nodes.validation) else epochs


def _validation_loss(scores: Tensor, nodes: Nodes, calibrated: bool) -> float:
    heats = _TEMPERATURES if calibrated else (1.0,)
    return min(nodes.loss(scores / heat, nodes.validation).item() for heat in heats)


def _copy(module: nn.Module) -> list[Tensor]:
    return [parameter.detach().clone() for parameter in module.parameters()]


def _batches(nodes: Tensor, whole: bool) -> list[Tensor]:
    if whole or len(nodes) <= BATCH:
        return [nodes]
    return list(torch.split(nodes[torch.randperm(len(nodes))], BATCH))
