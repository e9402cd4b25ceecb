"""Figures of a classifier: by class, by threshold, and how far its probabilities can be trusted."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    confusion_matrix,
    f1_score,
    log_loss,
    precision_recall_fscore_support,
    roc_auc_score,
)

from gadc.estimators import GADCClassifier

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


def positive_class(model: GADCClassifier, given: str | None = None) -> int | None:
    """Return the position of the class that --threshold and --top are about.

    It is the given one, or else the rarer of two classes among the predictions of `fit`; None for more
    classes.
    """
    names = [str(name) for name in model.classes_.tolist()]
    if given is not None:
        if given not in names:
            raise ValueError(f"--positive must be one of {', '.join(names)}, got {given!r}.")
        return names.index(given)
    if len(names) != 2:
        return None
    first, second = ((model.transduction_ == name).sum() for name in model.classes_)
    return 0 if first < second else 1


def measure_classes(truth: Codes, probability: Floats, count: int, positive: int | None) -> dict[str, Any]:
    """Measure predictions of nodes whose class is known.

    Args:
        truth: Position of the class of each node.
        probability: Probability of each class, shape (n, count).
        count: Number of classes.
        positive: Position of the class that the areas under curves are about; None averages over classes.
    """
    predicted, labels = probability.argmax(1), list(range(count))
    return {
        "nodes": len(truth),
        "accuracy": float(accuracy_score(truth, predicted)),
        "largest_class": float(np.bincount(truth).max() / len(truth)),
        "macro_f1": float(f1_score(truth, predicted, average="macro", zero_division=0)),
        "pr_auc": _area(average_precision_score, truth, probability, positive),
        "roc_auc": _area(roc_auc_score, truth, probability, positive),
        "log_loss": float(log_loss(truth, probability, labels=labels))
        if count > 1
        else 0.0,  # an old model may know one class
        "confusion": confusion_matrix(truth, predicted, labels=labels).tolist(),
    }


def class_rows(truth: Codes, probability: Floats, names: list[Any]) -> list[dict[str, Any]]:
    """Return precision, recall and F1 of each class, with its number of nodes."""
    figures = precision_recall_fscore_support(
        truth, probability.argmax(1), labels=range(len(names)), zero_division=0
    )
    rows = zip(names, *(one.tolist() for one in figures), strict=True)
    return [
        {"class": str(name), "nodes": int(nodes), "precision": precision, "recall": recall, "f1": f1}
        for name, precision, recall, f1, nodes in rows
    ]


def threshold_rows(is_positive: NDArray[np.bool_], probability: Floats) -> list[dict[str, Any]]:
    """Return what each threshold flags, how many of these are expected and found to be positive.

    Args:
        is_positive: Whether each node is of the positive class.
        probability: Probability that it is.
    """
    rows = []
    for threshold in THRESHOLDS:
        flagged = probability >= threshold
        found = int((flagged & is_positive).sum())
        rows.append(
            {
                "threshold": threshold,
                "flagged": int(flagged.sum()),
                "expected": float(probability[flagged].sum()),
                "found": found,
                "precision": found / int(flagged.sum()) if flagged.any() else None,
                "recall": found / int(is_positive.sum()) if is_positive.any() else None,
            }
        )
    return rows


def _area(score: Any, truth: Codes, probability: Floats, positive: int | None) -> float | None:
    """Return the area under a curve for one class, or its mean over classes; None where it is not defined."""
    wanted = range(probability.shape[1]) if positive is None else [positive]
    areas = []
    for code in wanted:
        is_class = truth == code
        if is_class.any() and not is_class.all():
            areas.append(float(score(is_class, probability[:, code])))
    return float(np.mean(areas)) if areas else None
