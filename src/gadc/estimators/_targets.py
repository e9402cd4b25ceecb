"""Numbers to predict for some nodes: which are known, and how much each counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from torch import Tensor
from torch_geometric.data import Data

from gadc.estimators._graph_data import read_masks
from gadc.estimators._labels import Mask

Values = NDArray[np.float64]


def known_values(owner: str, y: Any, X: Any) -> tuple[Mask, Values]:
    """Return which rows of X have a target, and the target of every row; NaN or None is unknown."""
    if y is None:
        raise ValueError(f"This {owner} estimator requires y to be passed, but the target y is None.")
    y = column_or_1d(_numbers(owner, y), warn=True)
    check_consistent_length(X, y)
    known = ~np.isnan(y)
    if not known.any():
        raise ValueError(f"{owner}: y must hold at least one known target, got {len(y)} unknown ones.")
    assert_all_finite(y[known], input_name="y")
    return known, y


def check_weights(owner: str, sample_weight: Any, num_rows: int) -> Values:
    """Return how much each row counts in training; all count the same by default."""
    if sample_weight is None:
        return np.ones(num_rows)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(num_rows, float(weight))
    if weight.shape != (num_rows,):
        raise ValueError(
            f"{owner}: sample_weight must have one weight per row of X ({num_rows}), "
            f"got shape {weight.shape}."
        )
    if not (np.isfinite(weight) & (weight >= 0)).all():
        wrong = weight[~(np.isfinite(weight) & (weight >= 0))][0]
        raise ValueError(f"{owner}: sample_weight must hold finite weights >= 0, got {wrong:g}.")
    return weight


def data_target(owner: str, data: Data) -> Values:
    """Return the targets of a `Data`, NaN where they are unknown or outside of the masks.

    Args:
        owner: Estimator that the error names.
        data: `target`, or else `y`, as numbers; `train_mask` and `val_mask` hide the others.
    """
    given = data.get("target") if data.get("target") is not None else data.get("y")
    if given is None:
        raise ValueError(f"{owner}: data must have target, got none.")
    target = given.detach().numpy() if isinstance(given, Tensor) else np.asarray(given)
    target = np.array(target, dtype=np.float64)
    train, validation = read_masks(owner, data)
    if train is not None:
        target[~(train if validation is None else train | validation)] = np.nan
    return target


def without_target(data: Data) -> Data:
    """Return a copy without targets, which the check of graphs would read as class numbers."""
    kept = {name: value for name, value in data.to_dict().items() if name not in ("target", "y")}
    return Data.from_dict(kept)


def _numbers(owner: str, y: Any) -> Values:
    if isinstance(y, Tensor):
        y = y.detach().cpu().numpy()
    y = np.asarray(y)
    if y.dtype.kind == "c":
        raise ValueError(f"{owner}: y must hold real numbers. Complex data not supported, got {y.dtype}.")
    try:
        numbers: Values = y.astype(np.float64)
        return numbers
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{owner}: y must hold numbers (NaN = unknown), got {y.dtype} ({error}); "
            "use GADCClassifier for classes."
        ) from error


def to_double(values: NDArray[Any]) -> Tensor:
    """Return a tensor in double precision."""
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float64))
