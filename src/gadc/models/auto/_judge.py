"""The user's metric, the log-loss beside it, and calibrated probabilities.

Any scorer of scikit-learn is accepted, by name or as a callable: it is given an object that has the answers
ready, so a scorer never runs a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from torch import Tensor
from torch.nn.functional import nll_loss

Scoring = str | Callable[..., float] | None

IMBALANCED = 0.1  # share of the smaller of two classes below which accuracy says little
_ALIASES = {"f1": "f1_macro", "log_loss": "neg_log_loss", "roc_auc": "roc_auc_ovr"}
_RESAMPLES = 100
_BINS = 15


class Judge:
    """Score probabilities of validation nodes by the user's metric; higher is better.

    Args:
        scoring: Name of a scorer of scikit-learn, a scorer itself, or None for accuracy; with two classes of
            which one has less than a tenth of the labels, None is the average precision of that class.
        counts: Number of labels per class.
        weight: Weight of each class in accuracy and log-loss, or None.

    Attributes:
        name: The metric in words.
        is_default: Whether the metric was chosen here.
        rare: The class whose average precision is measured, or None.
    """

    def __init__(self, scoring: Scoring, counts: Tensor, weight: Tensor | None = None) -> None:
        self.weight = weight
        self.num_classes = len(counts)
        share = float(counts.min() / counts.sum())
        imbalanced = self.num_classes == 2 and share < IMBALANCED
        self.is_default = scoring is None
        chosen = ("average_precision" if imbalanced else "accuracy") if scoring is None else scoring
        self.rare = int(counts.argmin()) if chosen == "average_precision" and self.num_classes == 2 else None
        self.share = share
        self.name = chosen if isinstance(chosen, str) else getattr(chosen, "__name__", "the given metric")
        wanted = _ALIASES.get(chosen, chosen) if isinstance(chosen, str) else chosen
        self._accuracy = wanted == "accuracy"
        try:
            self._scorer = get_scorer(wanted)
        except ValueError as error:
            raise ValueError(
                f"Auto: scoring must be the name of a scorer of scikit-learn or a scorer, got {chosen!r}."
            ) from error

    def score(self, proba: Tensor, y: Tensor) -> float:
        """Return the metric; NaN where it is not defined, such as for one class only."""
        if self._accuracy:
            right = (proba.argmax(1) == y).double()
            if self.weight is None:
                return float(right.mean())
            weights = self.weight[y].double()
            return float((right * weights).sum() / weights.sum())
        answers, truth = proba.double().numpy(), y.numpy()
        if self.rare == 0:  # scorers call the second class positive
            answers, truth = answers[:, ::-1], 1 - truth
        if len(np.unique(truth)) < 2:
            return math.nan
        try:
            return float(self._scorer(_Answers(answers), np.zeros((len(truth), 1)), truth))
        except ValueError:
            return math.nan

    def interval(self, proba: Tensor, y: Tensor) -> float:
        """Return the standard error of the metric over the validation nodes."""
        if self._accuracy:
            share = self.score(proba, y)
            return math.sqrt(share * (1 - share) / max(len(y), 1))
        generator = torch.Generator().manual_seed(0)
        scores = []
        for _ in range(_RESAMPLES):
            drawn = torch.randint(len(y), (len(y),), generator=generator)
            scores.append(self.score(proba[drawn], y[drawn]))
        known = [one for one in scores if not math.isnan(one)]
        return float(np.std(known)) if known else math.nan


class _Answers(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier for scorers, whose answers are ready."""

    def __init__(self, proba: NDArray[np.float64]) -> None:
        self.proba = proba
        self.classes_ = np.arange(proba.shape[1])

    def predict(self, X: Any) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self.proba.argmax(1)
        return found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        shares: NDArray[np.float64] = self.proba / self.proba.sum(1, keepdims=True)
        return shares


def log_loss(proba: Tensor, y: Tensor, weight: Tensor | None = None) -> float:
    """Return the mean negative log-probability of the true classes."""
    if not len(y):
        return math.nan
    weights = None if weight is None else weight.double()
    return float(nll_loss(proba.double().clamp(min=1e-12).log(), y, weight=weights))


def calibration_error(proba: Tensor, y: Tensor) -> float:
    """Return the expected calibration error: the mean gap between confidence and accuracy over 15 bins."""
    confidence, predicted = proba.max(1)
    bins = (confidence * _BINS).long().clamp(max=_BINS - 1)
    right = (predicted == y).double()
    gaps = torch.zeros(_BINS, dtype=torch.float64).index_add_(0, bins, right - confidence.double())
    return float(gaps.abs().sum() / max(len(y), 1))


def temperature(proba: Tensor, y: Tensor, weight: Tensor | None = None) -> float:
    """Return the T at which the probabilities, to the power 1/T and rescaled, have the lowest log-loss.

    A class is never ruled out by few nodes: T lies between 0.25 and 4.
    """
    logs = proba.double().clamp(min=1e-12).log()
    grid = np.geomspace(0.25, 4.0, 49)
    losses = [log_loss((logs / t).softmax(1), y, weight) for t in grid]
    return float(grid[int(np.argmin(losses))])
