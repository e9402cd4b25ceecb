"""Check what a model file says about the candidates of "auto" before anything is built from it.

A file may come from anyone: numbers that decide about memory or time are compared with the stored arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gadc._base import persistence
from gadc._base.memory import check_memory
from gadc._base.scalars import check_choice, check_count, check_number, check_share
from gadc.estimators._base import check_steps
from gadc.models.auto import OPERATORS, Ensemble

_DEEPEST = 4  # a corrected student of a teacher
_MOST_HOPS = 100


def restore_ensemble(
    stored: Any, arrays: persistence.Arrays, shape: tuple[int, int], num_features: int
) -> Ensemble:
    """Rebuild the ensemble.

    Args:
        stored: What `Ensemble.settings` returned.
        arrays: Its weights; names begin with "head.".
        shape: Numbers of nodes and of classes.
        num_features: Number of features.
    """
    check_type("ensemble", stored, dict)
    _check_features(check_type("features", stored["features"], dict), arrays, num_features)
    candidates = check_type("candidates", stored["candidates"], list)
    largest = max((array.size for array in arrays.values()), default=0)
    for one in candidates:
        _check_candidate(one, largest, num_features)
    shares = check_type("shares", stored["shares"], list)
    if len(shares) != len(candidates) or not candidates:
        raise ValueError(f"shares must be one per candidate, got {len(shares)} for {len(candidates)}.")
    for number in (*shares, stored["weight_unit"]):
        check_number("ensemble", number, "shares and weight_unit")
    check_number("ensemble", stored["temperature"], "temperature", strict=True)
    check_type("directed", stored["directed"], bool)
    known = tuple(f"head.readers.{number}." for number in range(len(candidates)))
    for name, array in arrays.items():
        if not name.startswith((*known, "head.features.")):
            raise ValueError(f"{name!r} is not an array of a model.")
        if name.endswith(".known"):
            _check_codes(name, array, shape[1])
    state = {name.removeprefix("head."): _tensor(name, array) for name, array in arrays.items()}
    return Ensemble.restored(stored, state, shape)


def _check_features(stored: dict[str, Any], arrays: persistence.Arrays, num_features: int) -> None:
    width = check_count("ensemble", stored["width"], "width", low=1)
    if stored["num_features"] != num_features or width > num_features:
        raise ValueError(f"ensemble must read {num_features} features.")
    for name in ("standardize", "unit_rows"):
        check_type(name, stored[name], bool)
    columns = num_features if stored["standardize"] else 0
    expected = {
        "shift": (columns,),
        "scale": (columns,),
        "basis": (num_features if width < num_features else 0, width),
    }
    for name, size in expected.items():
        if arrays[f"head.features.{name}"].shape != size:
            raise ValueError(f"{name} of the features must have shape {size}.")


def _check_candidate(stored: Any, largest: int, num_features: int, depth: int = 0) -> None:
    """Refuse settings beyond any that `fit` writes."""
    check_type("candidate", stored, dict)
    if depth > _DEEPEST:
        raise ValueError("candidates must not be nested so deeply.")
    for name in ("base", "teacher"):
        if name in stored:
            _check_candidate(stored[name], largest, num_features, depth + 1)
    for name in ("num_steps", "num_hops"):
        if name in stored:
            check_steps("candidate", stored[name])
    for name in ("lam", "eps", "weight_decay", "dropout"):
        if name in stored:
            check_number("candidate", stored[name], name)
    if "trust" in stored:
        check_share("candidate", stored["trust"], "trust")
    if stored.get("num_hops", 0) > _MOST_HOPS:
        raise ValueError(f"num_hops of a candidate must be at most {_MOST_HOPS}, got {stored['num_hops']}.")
    names = stored.get("operators", [stored.get("operator", "loops")])
    if len(check_type("operators", names, list)) > len(OPERATORS):
        raise ValueError(f"operators must be at most {len(OPERATORS)} names.")
    for name in names:
        check_choice("candidate", name, "operators", OPERATORS)
    for name in ("labels", "balance"):
        check_type(name, stored.get(name, False), bool)
    if "hidden" in stored and stored.get("head") != "linear":
        hidden = check_count("candidate", stored["hidden"], "hidden", low=1)
        if hidden > max(largest, 1) and depth == 0:
            raise ValueError("a candidate must not be wider than the stored arrays.")
        check_memory("candidate", 4.0 * hidden * num_features, "a head")
    check_memory("candidate", 4.0 * num_features, "a head")


def _check_codes(name: str, array: NDArray[Any], num_classes: int) -> None:
    if array.dtype.kind != "i" or array.min(initial=-1) < -1 or array.max(initial=-1) >= num_classes:
        raise ValueError(f"{name} must hold class numbers below {num_classes}, or -1.")


def _tensor(name: str, array: NDArray[Any]) -> Tensor:
    return torch.from_numpy(array) if array.dtype.kind == "i" else finite(name, array)


def finite(name: str, array: NDArray[Any]) -> Tensor:
    """Return stored weights, or raise an error unless they are finite numbers."""
    if array.dtype.kind != "f" or not np.isfinite(array).all():
        raise ValueError(f"{name} must hold finite numbers, got {array.dtype}.")
    return torch.from_numpy(array)


def check_type(name: str, value: Any, *kinds: type) -> Any:
    """Return a stored value, or raise an error unless it is of one of the types."""
    if type(value) not in kinds:
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"{name} must be of type {expected}, got {value!r}."[:200])
    return value
