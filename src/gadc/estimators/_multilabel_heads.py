"""Heads with one output per label: logistic regressions side by side, or one MLP."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve
from sklearn.neural_network import MLPClassifier

from gadc.estimators._heads import STOP_EARLY, build_layers, fit_network
from gadc.models._training.heads import MLP

Values = NDArray[np.float64]


def fit_labels(
    kind: str,
    rows: Values,
    target: Values,
    weight: Values,
    *,
    alpha: float,
    class_weight: Any,
    settings: dict[str, Any],
) -> MLP:
    """Fit "logistic" or "mlp" to standardised rows; the outputs are log-odds.

    Args:
        kind: Kind of head.
        rows: Features of the known nodes, mean 0 and deviation 1.
        target: 0 or 1 for each of these nodes and each label.
        weight: How much each node counts, > 0.
        alpha: Penalty of the weights.
        class_weight: None, "balanced" or {0: weight, 1: weight}, for each label ("logistic" only).
        settings: `hidden`, `lr`, `epochs` and `seed` of an MLP, and its `owner`, which an error names.
    """
    constant = (target == target[0]).all(0)
    if kind == "mlp" and not constant.all():
        return _fit_mlp(rows, target, weight, alpha, settings)
    weights, biases = np.zeros((rows.shape[1], target.shape[1])), np.zeros(target.shape[1])
    for label in range(target.shape[1]):
        if constant[label]:
            biases[label] = _log_odds(target[:, label], weight)
            continue
        model = LogisticRegression(C=1 / alpha, class_weight=class_weight, max_iter=1000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # separable labels; the penalty bounds it
            model.fit(rows, target[:, label], sample_weight=weight)
        weights[:, label], biases[label] = model.coef_[0], model.intercept_[0]
    return build_layers([(weights, biases)])


def best_threshold(target: Values, probability: Values, weight: Values) -> float:
    """Return the probability from which a label is given so that its F1 is highest; 0.5 without examples."""
    if not 0 < target.sum() < len(target):
        return 0.5
    precision, recall, thresholds = precision_recall_curve(target, probability, sample_weight=weight)
    total = np.maximum(precision + recall, 1e-300)
    best = int(np.argmax((2 * precision * recall / total)[:-1]))
    # Halfway to the next lower probability, so that rounding does not decide about a node.
    below = thresholds[best - 1] if best else thresholds[best]
    return float((thresholds[best] + below) / 2)


def _fit_mlp(rows: Values, target: Values, weight: Values, alpha: float, settings: dict[str, Any]) -> MLP:
    model = MLPClassifier(
        hidden_layer_sizes=(settings["hidden"],),
        alpha=alpha,
        learning_rate_init=settings["lr"],
        max_iter=settings["epochs"],
        early_stopping=len(target) >= STOP_EARLY,
        random_state=settings["seed"],
    )
    fit_network(settings["owner"], model, rows, _two_columns(target), weight)
    layers = list(zip(model.coefs_, model.intercepts_, strict=True))
    last, bias = layers[-1]
    layers[-1] = (last[:, : target.shape[1]], bias[: target.shape[1]])
    return build_layers(layers)


def _two_columns(target: Values) -> NDArray[np.int64]:
    """Repeat a single label, since scikit-learn reads one column as classes instead of labels."""
    whole = target.astype(np.int64)
    return np.repeat(whole, 2, axis=1) if whole.shape[1] == 1 else whole


def _log_odds(target: Values, weight: Values) -> float:
    """Return the log-odds of a label that all nodes have or lack, drawn half an example to the middle."""
    have = float((target * weight).sum())
    return float(np.log((have + 0.5) / (weight.sum() - have + 0.5)))
