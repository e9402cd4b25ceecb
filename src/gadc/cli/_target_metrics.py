"""Figures of predicted numbers and of predicted sets of labels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    mean_absolute_error,
    precision_recall_fscore_support,
    r2_score,
    root_mean_squared_error,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def measure_numbers(truth: Floats, predicted: Floats) -> dict[str, Any]:
    """Return R², mean absolute and root mean squared error, and both errors of always predicting the mean."""
    mean = np.full(len(truth), truth.mean())
    return {
        "nodes": len(truth),
        "r2": float(r2_score(truth, predicted)) if len(truth) > 1 else None,
        "mae": float(mean_absolute_error(truth, predicted)),
        "rmse": float(root_mean_squared_error(truth, predicted)),
        "mae_of_the_mean": float(mean_absolute_error(truth, mean)),
        "rmse_of_the_mean": float(root_mean_squared_error(truth, mean)),
    }


def measure_sets(truth: Ints, predicted: Ints, probability: Floats) -> dict[str, Any]:
    """Return macro and micro figures over all labels."""
    areas = [
        average_precision_score(truth[:, label], probability[:, label])
        for label in range(truth.shape[1])
        if truth[:, label].sum() > 0
    ]
    return {
        "nodes": len(truth),
        "macro_f1": float(f1_score(truth, predicted, average="macro", zero_division=0)),
        "micro_f1": float(f1_score(truth, predicted, average="micro", zero_division=0)),
        "macro_pr_auc": float(np.mean(areas)) if areas else None,
        "all_labels_right": float((truth == predicted).all(1).mean()),
    }


def label_rows(truth: Ints, predicted: Ints, names: list[str], thresholds: Floats) -> list[dict[str, Any]]:
    """Return precision, recall and F1 of each label at its threshold, with its number of nodes."""
    figures = precision_recall_fscore_support(truth, predicted, average=None, zero_division=0)
    rows = zip(names, thresholds.tolist(), *(np.ravel(one).tolist() for one in figures), strict=True)
    return [
        {
            "label": name,
            "nodes": int(nodes),
            "threshold": threshold,
            "precision": precision,
            "recall": recall,
            "f1": f1,
        }
        for name, threshold, precision, recall, f1, nodes in rows
    ]
