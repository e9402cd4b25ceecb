"""Write a fitted classifier to a file, and check what is read back."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gadc._base import persistence
from gadc._base.memory import check_memory
from gadc._base.scalars import check_count, check_number
from gadc.estimators._ensemble_file import check_type, finite, restore_ensemble
from gadc.estimators._robust import restore_robust
from gadc.estimators._stored_parts import common_settings, graph_arrays, restore_common
from gadc.models._training.heads import build_head

_PLAIN: dict[str, tuple[type, ...]] = {
    "scale_": (int, float),
    "epoch_": (int,),
    "log_loss_": (int, float),
    "validation_score_": (int, float),
    "explain_": (str,),
    "report_": (dict,),
}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Store parameters, classes, head, graph and the choice of "auto"."""
    settings = {
        **common_settings(model),
        "classes": {"dtype": model.classes_.dtype.str, "values": model.classes_.tolist()},
        "class_sizes": getattr(model, "class_sizes_", None),
        "ensemble": None if model.ensemble_ is None else model.ensemble_.settings(),
        **{name: getattr(model, name) for name in _PLAIN},
    }
    params = settings["params"]
    if not isinstance(params["scoring"], str):
        params["scoring"] = None  # a callable cannot be stored
    if not isinstance(params["unlabeled"], str | int | float | None):
        params["unlabeled"] = None  # nothing that JSON cannot hold marks a node
    arrays = {f"head.{name}": value.numpy() for name, value in model.head_.state_dict().items()}
    arrays["transduction"] = np.searchsorted(model.classes_, model.transduction_)
    persistence.write(path, type(model).__name__, settings, {**arrays, **graph_arrays(model)})


def restore(cls: type[Any], settings: dict[str, Any], arrays: persistence.Arrays) -> Any:
    """Build a classifier from checked parts."""
    model = restore_common(cls, settings, arrays)
    model._head_settings()
    for name, kinds in _PLAIN.items():
        setattr(model, name, check_type(name, settings[name], *kinds))
    check_number(cls.__name__, model.scale_, "scale_", strict=True)
    model.classes_ = _restore_classes(settings["classes"])
    if (sizes := settings.get("class_sizes")) is not None:  # older files do not have it
        model.class_sizes_ = [check_count(cls.__name__, size, "class_sizes") for size in sizes]
        if len(sizes) != len(model.classes_):
            raise ValueError(f"class_sizes must have one number per class, got {len(sizes)}.")
    codes = arrays.pop("transduction")
    if codes.ndim != 1 or codes.dtype.kind not in "iu" or codes.min(initial=0) < 0:
        raise ValueError("transduction must be a vector of class numbers >= 0.")
    model.transduction_ = model.classes_[codes]
    if model.graph_ is not None and model.graph_.num_nodes != len(codes):
        raise ValueError(f"transduction must have one class per node, got {len(codes)}.")
    if settings.get("candidate") is not None:
        raise ValueError("it was written by a former search for variants; fit it again.")
    if settings.get("ensemble") is not None:
        model.ensemble_ = model.head_ = restore_ensemble(
            settings["ensemble"], arrays, (len(codes), len(model.classes_)), model.n_features_in_
        )
        return model
    model.ensemble_ = None
    if model.robust is not None:
        model.head_ = restore_robust(model, arrays)
        return model
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


def _restore_classes(stored: Any) -> NDArray[Any]:
    values, kind = stored["values"], np.dtype(stored["dtype"])
    if not isinstance(values, list) or kind.kind not in "biufUS" or kind.itemsize < 0:  # NumPy 1 overflows
        raise ValueError(f"classes must be a list of text or numbers, got {kind}.")
    check_memory("classes", len(values) * kind.itemsize, f"{len(values)} names of type {kind}")
    classes = np.array(values, dtype=kind)
    if classes.ndim != 1 or not len(classes) or len(np.unique(classes)) != len(classes):
        raise ValueError("classes must be a list of distinct names.")
    return classes
