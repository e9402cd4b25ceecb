"""Write a fitted classifier to a file, and check what is read back."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from gadc._base import persistence
from gadc.datasets.tables._preparation import FeaturePreparation
from gadc.estimators._arrays import graph_to_matrix
from gadc.models._training.heads import build_head
from gadc.models.auto import Candidate

_PLAIN = ("n_features_in_", "scale_", "epoch_", "log_loss_", "validation_score_", "explain_", "report_")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Store parameters, classes, head, graph and the choice of "auto".

    The graph is stored once, as `fit` used it; a `random_state` that is not a number is stored as None.
    """
    params = model.get_params(deep=False)
    has_adjacency = params.pop("adjacency") is not None
    if not isinstance(params["random_state"], int | np.integer):
        params["random_state"] = None
    names, preparation = getattr(model, "feature_names_in_", None), model.feature_preparation_
    settings = {
        "params": params,
        "has_adjacency": has_adjacency,
        "classes": {"dtype": model.classes_.dtype.str, "values": model.classes_.tolist()},
        "feature_names": None if names is None else list(names),
        "feature_preparation": None if preparation is None else preparation.to_dict(),
        "num_nodes": None if model.graph_ is None else int(model.graph_.num_nodes),
        "candidate": None if model.candidate_ is None else asdict(model.candidate_),
        "head": "linear" if len(model.head_.layers) == 1 else "mlp",  # "auto" may have chosen the other head
        **{name: getattr(model, name) for name in _PLAIN},
    }
    arrays = {f"head.{name}": value.numpy() for name, value in model.head_.state_dict().items()}
    arrays["transduction"] = np.searchsorted(model.classes_, model.transduction_)
    if model.spread_ is not None:
        arrays["spread"] = model.spread_.numpy()
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
    except (KeyError, TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
        raise ValueError(f"{cls.__name__}: {path} does not hold a valid model: {error}") from error


def _restore(cls: type[Any], settings: dict[str, Any], arrays: persistence.Arrays) -> Any:
    model = cls(**settings["params"])
    model._check_diffusion()
    for name in _PLAIN:
        setattr(model, name, settings[name])
    classes = settings["classes"]
    model.classes_ = np.array(classes["values"], dtype=np.dtype(classes["dtype"]))
    if len(np.unique(model.classes_)) != len(model.classes_):
        raise ValueError("classes must be distinct.")
    if settings["feature_names"] is not None:
        model.feature_names_in_ = np.array(settings["feature_names"], dtype=object)
    preparation = settings.get("feature_preparation")  # files of format version 1 do not have it
    model.feature_preparation_ = None if preparation is None else FeaturePreparation.from_dict(preparation)
    model.transduction_ = model.classes_[arrays.pop("transduction")]
    model.graph_ = _restore_graph(settings["num_nodes"], arrays)
    if settings["has_adjacency"]:
        model.adjacency = graph_to_matrix(model.graph_)
    model.candidate_ = None if settings["candidate"] is None else Candidate(**settings["candidate"])
    model.spread_ = torch.from_numpy(arrays.pop("spread")) if "spread" in arrays else None
    model.head_ = build_head(
        settings["head"],
        model.n_features_in_,
        len(model.classes_),
        hidden=model.hidden,
        dropout=model.dropout,
    )
    state = {name.removeprefix("head."): torch.from_numpy(array) for name, array in arrays.items()}
    model.head_.load_state_dict(state)  # strict: refuses missing, extra and misshapen arrays
    model.head_.eval()
    return model


def _restore_graph(num_nodes: int | None, arrays: persistence.Arrays) -> Data | None:
    if num_nodes is None:
        return None
    edge_index = torch.from_numpy(arrays.pop("edge_index"))
    edge_weight = torch.from_numpy(arrays.pop("edge_weight")) if "edge_weight" in arrays else None
    return Data(edge_index=edge_index, edge_weight=edge_weight, num_nodes=num_nodes)
