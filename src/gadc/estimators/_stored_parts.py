"""The parts of a model file that all estimators share: parameters, graph and names of features."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from gadc._base import persistence
from gadc._base.scalars import check_count
from gadc.datasets._border import check_graph
from gadc.datasets.tables._preparation import FeaturePreparation
from gadc.estimators._arrays import graph_to_matrix
from gadc.estimators._ensemble_file import check_type
from gadc.estimators._graph_data import read_edges
from gadc.estimators._relations import restore_relations

Restore = Callable[[type[Any], dict[str, Any], persistence.Arrays], Any]


def common_settings(model: Any) -> dict[str, Any]:
    """Return parameters, names of features and their preparation as JSON values.

    The graph is stored once, as `fit` used it; a `random_state` that is not a number is stored as None.
    """
    params = model.get_params(deep=False)
    has_adjacency = params.pop("adjacency") is not None
    if not isinstance(params.get("random_state"), int | np.integer | None):
        params["random_state"] = None
    if isinstance(params.get("class_weight"), dict):
        params["class_weight"] = None  # JSON cannot hold classes of any type as keys
    names = getattr(model, "feature_names_in_", None)
    preparation = getattr(model, "feature_preparation_", None)
    return {
        "params": params,
        "has_adjacency": has_adjacency,
        "n_features_in_": model.n_features_in_,
        "feature_names": None if names is None else list(names),
        "feature_preparation": None if preparation is None else preparation.to_dict(),
        "num_nodes": None if model.graph_ is None else int(model.graph_.num_nodes),
        "relation_weights": model.relation_weights_,
    }


def graph_arrays(model: Any) -> persistence.Arrays:
    """Return the edges of the graph of `fit`; nothing without a graph."""
    if model.graph_ is None:
        return {}
    arrays = {"edge_index": model.graph_.edge_index.numpy()}
    if model.graph_.edge_weight is not None:
        arrays["edge_weight"] = model.graph_.edge_weight.numpy()
    if model.relation_weights_ is not None:
        arrays["edge_type"] = model.graph_.edge_type.numpy()
    return arrays


def load(cls: type[Any], path: str | os.PathLike[str], restore: Restore) -> Any:
    """Read a model; raise a ValueError if its parts do not fit together."""
    settings, arrays = persistence.read(path, cls.__name__)
    try:
        return restore(cls, settings, arrays)
    except (LookupError, TypeError, ValueError, RuntimeError, AttributeError, ArithmeticError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ValueError(f"{cls.__name__}: {path} does not hold a valid model: {reason}") from error


def restore_common(cls: type[Any], settings: dict[str, Any], arrays: persistence.Arrays) -> Any:
    """Build an estimator with checked parameters, its graph and the names of its features."""
    model = cls(**settings["params"])
    for name in ("directed", "signed", "verbose"):
        if hasattr(model, name):
            check_type(name, getattr(model, name), bool)
    model._check_diffusion()
    model.n_features_in_ = check_type("n_features_in_", settings["n_features_in_"], int)
    check_count(cls.__name__, model.n_features_in_, "n_features_in_", low=1)
    if settings["feature_names"] is not None:
        model.feature_names_in_ = _restore_names(settings["feature_names"], model.n_features_in_)
    model.feature_preparation_ = _restore_preparation(settings)
    relations = restore_relations(settings)
    model.graph_ = _restore_graph(settings["num_nodes"], arrays, relations, signed=model.signed)
    model.relation_weights_ = None if model.graph_ is None else relations
    if check_type("has_adjacency", settings["has_adjacency"], bool):
        model.adjacency = graph_to_matrix(model.graph_)
    return model


def _restore_graph(
    num_nodes: int | None, arrays: persistence.Arrays, relations: dict[str, float] | None, *, signed: bool
) -> Data | None:
    if num_nodes is None:
        return None
    check_count("graph", num_nodes, "num_nodes", low=1)
    graph = Data(edge_index=torch.from_numpy(arrays.pop("edge_index")), num_nodes=num_nodes)
    graph.edge_weight = torch.from_numpy(arrays.pop("edge_weight")) if "edge_weight" in arrays else None
    if relations is not None:
        graph.edge_type, graph.relation_names = torch.from_numpy(arrays.pop("edge_type")), list(relations)
    return read_edges("graph", check_graph("graph", graph), num_nodes, signed=signed)


def _restore_names(names: Any, count: int) -> NDArray[Any]:
    good = isinstance(names, list) and len(names) == count and all(isinstance(name, str) for name in names)
    if not good:
        raise ValueError(f"feature_names must be {count} names.")
    return np.array(names, dtype=object)


def _restore_preparation(settings: dict[str, Any]) -> FeaturePreparation | None:
    stored = settings.get("feature_preparation")  # files of format version 1 do not have it
    if stored is None:
        return None
    preparation = FeaturePreparation.from_dict(stored)
    if preparation.names != settings["feature_names"]:
        raise ValueError("feature_preparation must compute the features in feature_names.")
    return preparation
