"""What the models of `gadc.models` are trained on, from what a classifier was given."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from torch import Tensor
from torch_geometric.data import Data

from gadc.estimators._graph_data import edges_of
from gadc.estimators._labels import validation_split
from gadc.estimators._targets import check_weights


def class_weights(given: Any, classes: NDArray[Any], codes: Tensor) -> tuple[float, ...] | None:
    """Return the weight of each class in the order of `classes`; None if all weigh the same."""
    if given is None:
        return None
    known = classes[codes[codes >= 0].numpy()]
    weights = compute_class_weight(given, classes=classes, y=known)
    return tuple(float(one) for one in weights)


def weighted_labels(
    owner: str, sample_weight: Any, codes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Return the labels that count and the weight of each node; None if all weigh the same.

    A label of weight 0 is not known: it neither trains, nor validates, nor names a class.
    """
    if sample_weight is None:
        return codes, None
    weight = check_weights(owner, sample_weight, len(codes))
    codes = np.where(weight > 0, codes, -1)
    if not (codes >= 0).any():
        raise ValueError(f"{owner}: sample_weight of a labelled node must be > 0, got weights that are zero.")
    return codes, weight


def training_data(
    x: Tensor,
    graph: Data | None,
    codes: NDArray[np.int64],
    masks: tuple[Any, Any],
    weight: NDArray[np.float64] | None,
    *,
    fraction: float,
    rng: np.random.RandomState,
) -> Data:
    """Return features, graph, labels, weights and masks; a validation part is drawn unless there is one."""
    train, validation = masks
    if validation is None:
        train, validation = validation_split(codes, fraction, rng)
    edge_index, edge_weight = edges_of(graph)
    data = Data(
        x=x,
        edge_index=edge_index,
        edge_weight=edge_weight,
        y=torch.from_numpy(codes),
        train_mask=torch.from_numpy(train & (codes >= 0)),
        val_mask=torch.from_numpy(validation & (codes >= 0)),
    )
    if weight is not None:
        data.sample_weight = torch.from_numpy(weight)
    return data


def without_weightless(owner: str, data: Data) -> tuple[Data, NDArray[np.float64] | None]:
    """Return a graph without the labels of weight 0, and the weights."""
    codes, weight = weighted_labels(owner, data.get("sample_weight"), data.y.numpy())
    if weight is not None:
        data = copy(data)
        data.y = torch.from_numpy(codes)
    return data, weight
