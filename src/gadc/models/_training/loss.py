"""Losses: cross-entropy with a weight per class and a weight per node, and how wrong each node is."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def weighted_cross_entropy(
    scores: Tensor, labels: Tensor, class_weight: Tensor | None, sample_weight: Tensor | None
) -> Tensor:
    """Return the weighted mean of the cross-entropies of some nodes.

    Args:
        scores: Scores of the classes, shape (n, classes).
        labels: Class of each node, shape (n,).
        class_weight: Weight of each class, or None if all weigh the same.
        sample_weight: Weight of each node, shape (n,), or None if all weigh the same.
    """
    if sample_weight is None:
        return cross_entropy(scores, labels, weight=class_weight)
    weight = sample_weight.to(scores.dtype)
    if class_weight is not None:
        weight = weight * class_weight[labels]
    losses = cross_entropy(scores, labels, reduction="none")
    return (losses * weight).sum() / weight.sum()


def margins(scores: Tensor, labels: Tensor) -> Tensor:
    """Compute the best other score minus the score of the label, row by row: positive if it is wrong."""
    if scores.shape[1] < 2:
        raise ValueError(f"margins: scores must have at least two columns, got {scores.shape[1]}.")
    column = labels.unsqueeze(1)
    others = scores.scatter(1, column, -torch.inf)
    return others.amax(1) - scores.gather(1, column).squeeze(1)
