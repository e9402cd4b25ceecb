"""Read features, graph, labels and masks from a PyTorch Geometric `Data` that passed `check_graph`."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.csr import to_csr_tensor
from gadc._base.validation import (
    check_edge_index,
    check_edge_weight,
    check_features,
    check_sparse_features,
)
from gadc.datasets.tables._preparation import FeaturePreparation
from gadc.estimators._labels import Mask, is_unlabelled
from gadc.estimators._relations import read_relations

_LISTED = 5  # names in an error message


class FeatureMismatchError(ValueError):
    """The features of a `Data` are not the features that a classifier was fitted on."""


def read_features(owner: str, data: Data) -> Tensor:
    """Return `data.x` as a float32 matrix; a sparse one stays sparse."""
    if data.x is None:
        raise ValueError(f"{owner}: data must have features x, got none.")
    if data.x.layout != torch.strided:
        return check_sparse_features(owner, data.x, "data.x").detach()
    return check_features(owner, data.x, "data.x").detach().float()


def with_identity(data: Any) -> Any:
    """Give a graph without features one feature per node, as a sparse matrix; others are returned as is."""
    if not isinstance(data, Data) or data.get("x") is not None or data.get("edge_index") is None:
        return data
    filled = copy(data)
    labels = data.get("y")
    n = len(labels) if isinstance(labels, Tensor) else data.num_nodes  # PyG guesses from edges, and warns
    filled.x = to_csr_tensor(sparse.eye_array(n, dtype=np.float32))
    return filled


def match_features(owner: str, data: Data, num_features: int, names: Sequence[str] | None) -> Tensor:
    """Return `data.x` with the columns in the order of `fit`, matched by name where both sides have names."""
    x, given = read_features(owner, data), data.get("feature_names")
    if names is not None and given:
        _check_names(owner, list(names), list(given))
        order = [list(given).index(name) for name in names]
        if order == list(range(len(order))):
            return x
        return x[:, order] if x.layout == torch.strided else _reordered(x, order)
    if x.shape[1] != num_features:
        raise FeatureMismatchError(f"{owner}: data must have {num_features} features, got {x.shape[1]}.")
    return x


def _reordered(x: Tensor, order: list[int]) -> Tensor:
    """Return the columns of a sparse matrix in another order."""
    place = torch.empty(len(order), dtype=torch.int64)
    place[torch.tensor(order)] = torch.arange(len(order))
    entries = x.to_sparse_coo().coalesce()  # type: ignore[no-untyped-call]
    rows, cols = entries.indices()
    moved = torch.sparse_coo_tensor(torch.stack([rows, place[cols]]), entries.values(), x.shape)
    return moved.coalesce().to_sparse_csr()


def read_preparation(data: Data) -> FeaturePreparation | None:
    """Return how the features were computed from a table; None if they were replaced since."""
    known = data.get("feature_preparation")
    if not isinstance(known, FeaturePreparation):
        return None
    return known if known.names == list(data.get("feature_names") or ()) else None


def read_edges(owner: str, data: Data, num_nodes: int, *, signed: bool = False) -> Data | None:
    """Return the graph alone, without edges of weight 0; None if `data` has no `edge_index`.

    A negative weight is an error unless weights may be `signed`.
    """
    if data.edge_index is None:
        return None
    edge_index, edge_weight = check_edge_index(owner, data.edge_index, num_nodes), data.get("edge_weight")
    kind, names = read_relations(owner, data)
    if edge_weight is not None:
        edge_weight = check_edge_weight(owner, edge_weight, edge_index.shape[1], torch.float64).detach()
        if not signed and (edge_weight < 0).any():
            raise ValueError(
                f"{owner}: edge_weight must be >= 0, unless signed=True takes degrees from the sizes of the "
                f"weights, got {float(edge_weight.min()):g}."
            )
        if (edge_weight == 0).any():
            kept = edge_weight != 0
            edge_index, edge_weight = edge_index[:, kept], edge_weight[kept]
            kind = None if kind is None else kind[kept]
    graph = Data(edge_index=edge_index, edge_weight=edge_weight, num_nodes=num_nodes)
    if kind is not None:
        graph.edge_type, graph.relation_names = kind, names
    return graph


def check_has_edges(owner: str, graph: Data | None) -> Data | None:
    """Refuse a graph to fit on that has no edge between two nodes; None, no graph, is allowed."""
    if graph is not None and not (graph.edge_index[0] != graph.edge_index[1]).any():
        raise ValueError(
            f"{owner}: the graph must have at least one edge between two nodes, got none; "
            "leave the graph out to classify by the features alone."
        )
    return graph


def edges_of(graph: Data | None) -> tuple[Tensor, Tensor | None]:
    """Return `edge_index` and `edge_weight` of a graph; no edges without a graph."""
    if graph is None:
        return torch.zeros((2, 0), dtype=torch.int64), None
    return graph.edge_index, graph.edge_weight


def read_labels(owner: str, data: Data, unlabeled: Any = -1) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted classes and the position of each node's class among them.

    The position is -1 for a node without a label and for a node outside of both masks, if there are masks.
    Only classes that label a node are returned.
    """
    codes = data.y.numpy().copy()
    train, validation = read_masks(owner, data)
    if train is not None:
        codes[~(train if validation is None else train | validation)] = -1
    if not (codes[slice(None) if train is None else train] >= 0).any():
        raise ValueError(f"{owner}: data.y must label at least one node to train on, got none.")
    present = np.unique(codes[codes >= 0])
    if len(present) < 2:
        raise ValueError(f"{owner}: the labels must name at least two classes, got one class.")
    names = _class_names(owner, data, int(present[-1]) + 1, unlabeled)[present]
    classes, order = np.unique(names, return_inverse=True)
    position = np.full(present[-1] + 2, -1)  # the last entry answers for the code -1
    position[present] = order
    return classes, position[codes]


def read_masks(owner: str, data: Data) -> tuple[Mask | None, Mask | None]:
    """Return `train_mask` and `val_mask`, each None if `data` does not have it."""
    train, validation = (_mask(data, name) for name in ("train_mask", "val_mask"))
    if validation is None:
        return train, None
    if train is None:
        raise ValueError(f"{owner}: data.val_mask requires data.train_mask, got none.")
    if (train & validation).any():
        both = int((train & validation).sum())
        raise ValueError(
            f"{owner}: data.train_mask and data.val_mask must not overlap, got {both} nodes in both."
        )
    return train, validation


def _mask(data: Data, name: str) -> Mask | None:
    mask = data.get(name)
    return None if mask is None else np.asarray(mask.numpy())


def _class_names(owner: str, data: Data, count: int, unlabeled: Any) -> NDArray[Any]:
    """Return the names of the classes, or their numbers where they have no names."""
    names = data.get("class_names")
    if names is None or not len(names):
        return np.arange(count)
    listed = names.tolist() if isinstance(names, np.ndarray) else list(names)
    if any(is_unlabelled(name, unlabeled) for name in listed):
        raise ValueError(
            f"{owner}: data.class_names must not contain {unlabeled!r}, which means unlabelled; rename the "
            "class, or set unlabeled=None."
        )
    return np.asarray(names)


def _check_names(owner: str, expected: list[str], got: list[str]) -> None:
    missing = [repr(name) for name in expected if name not in got]
    extra = [repr(name) for name in got if name not in expected]
    if missing or extra:
        parts = [f"missing {_some(missing)}"] if missing else []
        parts += [f"unknown {_some(extra)}"] if extra else []
        raise FeatureMismatchError(
            f"{owner}: data must have the {len(expected)} features of fit, got {'; '.join(parts)}."
        )


def _some(names: list[str]) -> str:
    rest = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {rest} more" if rest > 0 else "")
