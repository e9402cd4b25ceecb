"""Write a fitted classifier to a file, and check what is read back."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from gadc._base import persistence
from gadc._base.memory import check_memory
from gadc._base.validation import check_count, check_number
from gadc.datasets._border import check_graph
from gadc.datasets.tables._preparation import FeaturePreparation
from gadc.estimators._arrays import graph_to_matrix
from gadc.estimators._ensemble_file import check_type, finite, restore_ensemble
from gadc.estimators._graph_data import read_edges
from gadc.models._training.heads import build_head

_PLAIN: dict[str, tuple[type, ...]] = {
    "n_features_in_": (int,),
    "scale_": (int, float),
    "epoch_": (int,),
    "log_loss_": (int, float),
    "validation_score_": (int, float),
    "explain_": (str,),
    "report_": (dict,),
}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Store parameters, classes, head, graph and the choice of "auto".

    The graph is stored once, as `fit` used it; a `random_state` that is not a number is stored as None.
    """
    params = model.get_params(deep=False)
    has_adjacency = params.pop("adjacency") is not None
    if not isinstance(params["random_state"], int | np.integer):
        params["random_state"] = None
    if not isinstance(params["scoring"], str):
        params["scoring"] = None  # a callable cannot be stored
    if isinstance(params["class_weight"], dict):
        params["class_weight"] = None  # JSON cannot hold classes of any type as keys
    names, preparation = getattr(model, "feature_names_in_", None), model.feature_preparation_
    settings = {
        "params": params,
        "has_adjacency": has_adjacency,
        "classes": {"dtype": model.classes_.dtype.str, "values": model.classes_.tolist()},
        "feature_names": None if names is None else list(names),
        "feature_preparation": None if preparation is None else preparation.to_dict(),
        "num_nodes": None if model.graph_ is None else int(model.graph_.num_nodes),
        "ensemble": None if model.ensemble_ is None else model.ensemble_.settings(),
        **{name: getattr(model, name) for name in _PLAIN},
    }
    arrays = {f"head.{name}": value.numpy() for name, value in model.head_.state_dict().items()}
    arrays["transduction"] = np.searchsorted(model.classes_, model.transduction_)
    if model.graph_ is not None:
        arrays["edge_index"] = model.graph_.edge_index.numpy()
        if model.graph_.edge_weight is not None:
            arrays["edge_weight"] = model.graph_.edge_weight.numpy()
    persistence.write(path, type(model).__name__, settings, arrays)


def load(cls: type[Any], path: str | os.PathLike[str]) -> Any:
    """Read a model; raise a ValueError if its parts do not fit together."""
    settings, arrays = persistence.read(path, cls.__name__)
    try:
        return _restore(cls, settings, arrays)
    except (LookupError, TypeError, ValueError, RuntimeError, AttributeError, ArithmeticError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ValueError(f"{cls.__name__}: {path} does not hold a valid model: {reason}") from error


def _restore(cls: type[Any], settings: dict[str, Any], arrays: persistence.Arrays) -> Any:
    model = cls(**settings["params"])
    for name in ("directed", "verbose"):
        check_type(name, getattr(model, name), bool)
    model._check_diffusion()
    model._head_settings()
    for name, kinds in _PLAIN.items():
        setattr(model, name, check_type(name, settings[name], *kinds))
    check_count(cls.__name__, model.n_features_in_, "n_features_in_", low=1)
    check_number(cls.__name__, model.scale_, "scale_", strict=True)
    model.classes_ = _restore_classes(settings["classes"])
    if settings["feature_names"] is not None:
        model.feature_names_in_ = _restore_names(settings["feature_names"], model.n_features_in_)
    model.feature_preparation_ = _restore_preparation(settings)
    codes = arrays.pop("transduction")
    if codes.ndim != 1 or codes.dtype.kind not in "iu" or codes.min(initial=0) < 0:
        raise ValueError("transduction must be a vector of class numbers >= 0.")
    model.transduction_ = model.classes_[codes]
    model.graph_ = _restore_graph(settings["num_nodes"], arrays)
    if model.graph_ is not None and model.graph_.num_nodes != len(codes):
        raise ValueError(f"transduction must have one class per node, got {len(codes)}.")
    if check_type("has_adjacency", settings["has_adjacency"], bool):
        model.adjacency = graph_to_matrix(model.graph_)
    if settings.get("candidate") is not None:
        raise ValueError("it was written by a former search for variants; fit it again.")
    if settings.get("ensemble") is not None:
        model.ensemble_ = model.head_ = restore_ensemble(
            settings["ensemble"], arrays, (len(codes), len(model.classes_)), model.n_features_in_
        )
        return model
    model.ensemble_ = None
    width = 1 if model.head == "linear" else model.hidden
    check_memory(cls.__name__, 4.0 * width * (model.n_features_in_ + len(model.classes_)), "the head")
    model.head_ = build_head(
        model.head,
        model.n_features_in_,
        len(model.classes_),
        hidden=model.hidden,
        dropout=model.dropout,
    )
    state = {name.removeprefix("head."): finite(name, array) for name, array in arrays.items()}
    model.head_.load_state_dict(state)  # strict: refuses missing, extra and misshapen arrays
    model.head_.eval()
    return model


def _restore_graph(num_nodes: int | None, arrays: persistence.Arrays) -> Data | None:
    if num_nodes is None:
        return None
    check_count("graph", num_nodes, "num_nodes", low=1)
    graph = Data(edge_index=torch.from_numpy(arrays.pop("edge_index")), num_nodes=num_nodes)
    graph.edge_weight = torch.from_numpy(arrays.pop("edge_weight")) if "edge_weight" in arrays else None
    return read_edges("graph", check_graph("graph", graph), num_nodes)


def _restore_classes(stored: Any) -> NDArray[Any]:
    values, kind = stored["values"], np.dtype(stored["dtype"])
    if not isinstance(values, list) or kind.kind not in "biufUS":
        raise ValueError(f"classes must be a list of text or numbers, got {kind}.")
    check_memory("classes", len(values) * kind.itemsize, f"{len(values)} names of type {kind}")
    classes = np.array(values, dtype=kind)
    if classes.ndim != 1 or not len(classes) or len(np.unique(classes)) != len(classes):
        raise ValueError("classes must be a list of distinct names.")
    return classes


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
