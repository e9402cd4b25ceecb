"""Many linear heads on the same features at once: one matrix product where a loop would make hundreds.

B heads with weights (d × c) each are one matrix (d × cB), the heads side by side within each class. The sum
of their losses has the gradient of each in its place, Adam acts on every entry by itself, and each head keeps
the epoch that its own validation figures choose: up to rounding this is `gadc.training.train` on one head
after the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import hardshrink

from gadc.training import Trained, Training
from gadc.validation import check_choice

SELECTIONS = ("val-acc", "val-loss", "last")


@dataclass(frozen=True)
class LinearHeads:
    """Trained heads: `weight` (B, d, c), `bias` (B, c), and how each was trained."""

    weight: Tensor
    bias: Tensor
    trained: list[Trained]

    def __call__(self, x: Tensor) -> Tensor:
        """Scores of each head, shape (B, n, c)."""
        scores = x @ self.weight.permute(1, 0, 2).flatten(1)
        return scores.view(len(x), *self.bias.shape).transpose(0, 1) + self.bias.unsqueeze(1)


@torch.no_grad()
def train_linear_heads(
    train_rows: Tensor,
    train_labels: Tensor,
    val_rows: Tensor,
    val_labels: Tensor,
    num_classes: int,
    settings: Training,
    *,
    seeds: Sequence[int],
) -> LinearHeads:
    """Train one linear head a seed, all at once.

    Args:
        train_rows: Features of the training nodes, shape (m, d).
        train_labels: Their labels.
        val_rows: Features of the validation nodes.
        val_labels: Their labels.
        num_classes: Number of classes.
        settings: As for `train`; "val-acc", "val-loss" or "last", without patience.
        seeds: Of the initial weights, those that `torch.nn.Linear` would draw.
    """
    check_choice("train_linear_heads", settings.selection, "selection", SELECTIONS)
    if settings.patience is not None:
        raise ValueError(f"train_linear_heads: patience must be None, got {settings.patience!r}.")
    weight, bias = _initial(train_rows, num_classes, seeds)
    optimizer = torch.optim.Adam([weight, bias], lr=settings.lr, weight_decay=settings.weight_decay)
    shape = (num_classes, len(seeds))
    best = _Best(weight, bias, settings.selection, len(seeds))
    losses, accuracies = [], []
    for epoch in range(settings.epochs):
        logs = torch.addmm(bias, train_rows, weight).view(-1, *shape).log_softmax(1)
        losses.append(_losses(logs, train_labels))
        slope = _slope(logs, train_labels)
        weight.grad, bias.grad = train_rows.T @ slope, slope.sum(0)
        optimizer.step()
        seen = torch.addmm(bias, val_rows, weight).view(-1, *shape)
        right = 100 * (seen.max(1).indices == val_labels.unsqueeze(1)).double().mean(0)
        accuracies.append(right)
        best.look(epoch, _losses(seen.log_softmax(1), val_labels).double(), right, weight, bias)
    trained = best.trained(torch.stack(losses, 1).tolist(), torch.stack(accuracies, 1).tolist())
    kept = best.weight.view(-1, *shape).permute(2, 0, 1)
    return LinearHeads(kept.contiguous(), best.bias.view(shape).T.contiguous(), trained)


def _initial(rows: Tensor, num_classes: int, seeds: Sequence[int]) -> tuple[Tensor, Tensor]:
    weights, biases = [], []
    with torch.random.fork_rng(devices=[]):
        for seed in seeds:
            torch.manual_seed(seed)
            layer = nn.Linear(rows.shape[1], num_classes)
            weights.append(layer.weight.detach().T)
            biases.append(layer.bias.detach())
    weight, bias = torch.stack(weights, 2).flatten(1), torch.stack(biases, 1).flatten()
    return weight.to(rows.dtype), bias.to(rows.dtype)


def _losses(logs: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy of each head, of log-probabilities (rows, classes, heads)."""
    return -logs.gather(1, _places(logs, labels)).squeeze(1).mean(0)


def _slope(logs: Tensor, labels: Tensor) -> Tensor:
    """Gradient of the sum of those losses in the scores, (softmax - 1[label]) / rows; overwrites `logs`."""
    places = _places(logs, labels)
    slope = logs.exp_().scatter_add_(1, places, -logs.new_ones(places.shape))
    slope = slope.div_(len(logs)).flatten(1)
    # Sure heads have probabilities below the normal range: products with such numbers are very slow.
    return hardshrink(slope, torch.finfo(slope.dtype).tiny)


def _places(logs: Tensor, labels: Tensor) -> Tensor:
    return labels.view(-1, 1, 1).expand(-1, 1, logs.shape[2])


class _Best:
    """The weights of each head at the epoch its validation figures choose."""

    def __init__(self, weight: Tensor, bias: Tensor, selection: str, heads: int) -> None:
        self.weight, self.bias = weight.detach().clone(), bias.detach().clone()
        self.selection = selection
        self.figure = torch.full((heads,), -math.inf, dtype=torch.float64)
        self.epoch = torch.full((heads,), -1)
        self.loss = torch.full((heads,), math.nan, dtype=torch.float64)
        self.accuracy = torch.full((heads,), math.nan, dtype=torch.float64)

    @torch.no_grad()
    def look(self, epoch: int, loss: Tensor, accuracy: Tensor, weight: Tensor, bias: Tensor) -> None:
        figure = {"val-acc": accuracy, "val-loss": -loss, "last": torch.full_like(loss, epoch)}[
            self.selection
        ]
        better = (figure > self.figure) & (
            (self.selection == "last") | ~loss.isnan()
        )  # NaN is no improvement
        if not bool(better.any()):
            return
        columns = better.repeat(len(self.bias) // len(better))
        self.weight[:, columns] = weight[:, columns]
        self.bias[columns] = bias[columns]
        self.figure = torch.where(better, figure, self.figure)
        self.epoch = torch.where(better, epoch, self.epoch)
        self.loss = torch.where(better, loss, self.loss)
        self.accuracy = torch.where(better, accuracy, self.accuracy)

    def trained(self, losses: list[list[float]], accuracies: list[list[float]]) -> list[Trained]:
        figures = zip(self.epoch.tolist(), self.accuracy.tolist(), self.loss.tolist(), strict=True)
        curves = zip(losses, accuracies, strict=True)
        return [Trained(*figure, *curve) for figure, curve in zip(figures, curves, strict=True)]
