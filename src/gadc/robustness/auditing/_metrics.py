"""The figures that an audit can report, in percent."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from gadc.models._training.loop import accuracy


def balanced_accuracy(scores: Tensor, labels: Tensor) -> float:
    """Return the mean over the classes of the percentage of their nodes that are right; NaN without nodes.

    A model that always answers with the largest class has 100 / (number of classes), however large it is.

    Args:
        scores: Scores, shape (k, classes).
        labels: Labels, shape (k,).
    """
    if not len(labels):
        return math.nan
    right = (scores.argmax(-1) == labels).double()
    classes, place, count = torch.unique(labels, return_inverse=True, return_counts=True)
    hits = right.new_zeros(len(classes)).index_add_(0, place, right)
    return 100.0 * float((hits / count).mean())


METRICS: dict[str, Callable[[Tensor, Tensor], float]] = {
    "accuracy": accuracy,
    "balanced-accuracy": balanced_accuracy,
}
