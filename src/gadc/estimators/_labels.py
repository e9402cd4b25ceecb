"""Labels of some nodes: which are known, and which of them validate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

Mask = NDArray[np.bool_]

_MANY = 50  # more different floats are measurements, unless most of them occur several times


def known_labels(owner: str, y: Any, X: Any, unlabeled: Any = -1) -> tuple[Mask, NDArray[Any]]:
    """Return which rows of X have a label, and the labels of these rows.

    An unlabelled row has None, NaN or the marker `unlabeled`; -1 among text is "-1" (NumPy converts it).
    """
    if y is None:
        raise ValueError(f"This {owner} estimator requires y to be passed, but the target y is None.")
    if isinstance(y, list | tuple):
        y = np.array(y, dtype=object)  # NumPy would convert numbers among text to text
    shape = np.asarray(y).shape
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"{owner}: y should be a 1d array, one class per node, got an array of shape {shape}; "
            "several labels per node are for GADCMultilabelClassifier."
        )
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    known = np.array([not is_unlabelled(label, unlabeled) for label in y.tolist()], dtype=bool)
    if not known.any():
        raise ValueError(f"{owner}: y must label at least one node, got {len(y)} unlabelled nodes.")
    labels = y[known]
    if labels.dtype == object:
        if len({isinstance(label, str) for label in labels}) == 2:
            raise ValueError(f"{owner}: y must be all text or all numbers, got both.")
        labels = np.array(labels.tolist())
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
        _refuse_measurements(owner, labels)
    check_classification_targets(labels)
    return known, labels


def validation_split(
    codes: NDArray[np.int64], fraction: float, rng: np.random.RandomState
) -> tuple[Mask, Mask]:
    """Split the rows with codes >= 0 class by class; at least one row of every class stays for training."""
    validation = np.zeros(len(codes), dtype=bool)
    for code in range(codes.max() + 1):
        rows = np.flatnonzero(codes == code)
        size = min(round(fraction * len(rows)), len(rows) - 1)
        validation[rng.permutation(rows)[:size]] = True
    return (codes >= 0) & ~validation, validation


def is_unlabelled(label: Any, unlabeled: Any = -1) -> bool:
    """Return whether a label is None, NaN or the marker of unlabelled nodes, as a number or as text."""
    if label is None or (isinstance(label, float) and math.isnan(label)):
        return True
    return unlabeled is not None and (label == unlabeled or label == str(unlabeled))


def _refuse_measurements(owner: str, labels: NDArray[Any]) -> None:
    """Refuse floats that are a quantity rather than classes."""
    different = len(np.unique(labels))
    fractional = bool((labels != np.floor(labels)).any())
    if fractional or (different > _MANY and different > len(labels) / 2):
        what = "fractions" if fractional else f"{different} different numbers"
        raise ValueError(
            f"Unknown label type: {owner}: y must hold classes, got floats with {what}; use GADCRegressor "
            "for numbers, or pass classes as integers or text."
        )
