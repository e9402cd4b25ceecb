"""Losses that an attacker maximises: the mean over the attacked nodes of a measure of how wrong they are.

    cross-entropy        -log softmax(s)_y                  also grows for nodes that are wrong already
    margin               max_{c≠y} s_c - s_y
    tanh-margin          tanh of the margin                 emphasises the nodes near the boundary
    scaled-margin        tanh of the margin divided by its mean size; the same whatever the unit of the scores
    probability-margin   the margin of softmax(s)

Scores of very different sizes make tanh-margin weak: small ones leave it a plain margin, large ones have no
slope.
Geisler et al., "Robustness of Graph Neural Networks at Scale", NeurIPS 2021, compare them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from gadc.models._training.loss import margins

Loss: TypeAlias = Callable[[Tensor, Tensor], Tensor]


def check_columns(scores: Tensor, labels: Tensor) -> None:
    """Refuse scores without a column for one of the labels."""
    if len(labels) and int(labels.max()) >= scores.shape[1]:
        raise ValueError(
            f"attack: scores must have a column for every label of the attacked nodes, got {scores.shape[1]} "
            f"columns and label {int(labels.max())}."
        )


def margin(scores: Tensor, labels: Tensor) -> Tensor:
    """Compute the mean margin."""
    return margins(scores, labels).mean()


def tanh_margin(scores: Tensor, labels: Tensor) -> Tensor:
    """Compute the mean tanh of the margin."""
    return margins(scores, labels).tanh().mean()


def scaled_margin(scores: Tensor, labels: Tensor) -> Tensor:
    """Compute the mean tanh of the margin, in units of the mean size of the margins."""
    found = margins(scores, labels)
    size = found.detach().abs().mean()
    return (found / torch.where(size > 0, size, torch.ones_like(size))).tanh().mean()


def probability_margin(scores: Tensor, labels: Tensor) -> Tensor:
    """Compute the mean margin of the probabilities."""
    return margins(scores.softmax(1), labels).mean()


LOSSES: dict[str, Loss] = {
    "cross-entropy": cross_entropy,
    "margin": margin,
    "tanh-margin": tanh_margin,
    "scaled-margin": scaled_margin,
    "probability-margin": probability_margin,
}


def make_loss(loss: str | Loss) -> Loss:
    """Look up a loss by name; a function `(scores, labels) -> loss` is passed through.

    Args:
        loss: A name in `LOSSES`, or a function of scores (k, classes) and labels (k,) that is maximised.

    Examples:
        >>> import torch
        >>> make_loss("margin")(torch.tensor([[2.0, 0.5]]), torch.tensor([0]))
        tensor(-1.5000)
    """
    if callable(loss):
        return loss
    if loss not in LOSSES:
        raise ValueError(f"make_loss: loss must be one of {', '.join(LOSSES)} or a callable, got {loss!r}.")
    return LOSSES[loss]
