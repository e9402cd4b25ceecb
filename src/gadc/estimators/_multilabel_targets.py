"""Sets of labels of some nodes: a matrix of 0 and 1 with unknown rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from gadc.estimators._arrays import is_sparse

Values = NDArray[np.float64]


def known_sets(owner: str, y: Any, num_rows: int) -> Values:
    """Return labels as 0 and 1, and a row of NaN for each node whose labels are unknown.

    Args:
        owner: Estimator that the error names.
        y: Matrix of 0, 1 and rows of -1 or NaN: an array, a sparse matrix, a tensor or a DataFrame.
        num_rows: Number of rows of X.
    """
    if y is None:
        raise ValueError(f"This {owner} estimator requires y to be passed, but the target y is None.")
    if is_sparse(y):
        y = y.toarray()
    if isinstance(y, Tensor):
        y = y.detach().cpu().numpy()
    try:
        target = np.array(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{owner}: y must hold 0 and 1 (a row of -1 or NaN = unknown): {error}.") from error
    if target.ndim != 2 or target.shape[1] < 1 or len(target) != num_rows:
        raise ValueError(
            f"{owner}: y must have one row per row of X ({num_rows}) and one column per label, "
            f"got shape {target.shape}; one class per node is for GADCClassifier."
        )
    unknown = np.isnan(target) | (target == -1)
    partly = unknown.any(1) & ~unknown.all(1)
    if partly.any():
        raise ValueError(
            f"{owner}: the labels of a node must be known or unknown together, got both in "
            f"{int(partly.sum())} rows of y, the first is row {int(partly.argmax())}."
        )
    wrong = ~unknown & (target != 0) & (target != 1)
    if wrong.any():
        raise ValueError(
            f"{owner}: y must hold 0 and 1 (a row of -1 or NaN = unknown), got {target[wrong][0]:g}."
        )
    if unknown.all():
        raise ValueError(f"{owner}: y must label at least one node, got {len(target)} unlabelled nodes.")
    return np.where(unknown, np.nan, target)


def label_names(given: Any, count: int) -> list[str]:
    """Return the names of the labels: the columns of a DataFrame, a list of names, or numbers."""
    names = getattr(given, "columns", given if isinstance(given, list | tuple) else None)
    names = [] if names is None else list(names)
    if len(names) != count or not all(isinstance(name, str) for name in names):
        return [str(number) for number in range(count)]
    return names
