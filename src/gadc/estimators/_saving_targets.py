"""Write a fitted regressor or multi-label classifier to a file, and check what is read back."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any

from gadc._base import persistence
from gadc._base.memory import check_memory
from gadc._base.scalars import check_choice, check_count, check_number
from gadc.diffusion import NORMALIZATIONS, VARIANTS, make_transition
from gadc.estimators._base import DIFFUSION, check_steps
from gadc.estimators._ensemble_file import check_type, finite
from gadc.estimators._heads import empty_layers, widths_of
from gadc.estimators._stored_parts import common_settings, graph_arrays, restore_common

_MOST_LAYERS = 2


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Store parameters, the chosen diffusion, head, graph and predictions."""
    settings = {
        **common_settings(model),
        "chosen": model.chosen_,
        "explain": model.explain_,
        "report": model.report_,
        "widths": widths_of(model.head_),
        **model._more_settings(),
    }
    arrays = {f"head.{name}": value.numpy() for name, value in model.head_.state_dict().items()}
    arrays |= {"cross_validated": model.cross_validated_, "transduction": model.transduction_}
    persistence.write(path, type(model).__name__, settings, {**arrays, **graph_arrays(model)})


def restore(cls: type[Any], settings: dict[str, Any], arrays: persistence.Arrays) -> Any:
    """Build an estimator from checked parts."""
    model = restore_common(cls, settings, arrays)
    model._check_head()
    model.ensemble_, model.scale_ = None, 1.0
    model.chosen_ = _restore_chosen(cls.__name__, settings["chosen"])
    model.explain_ = check_type("explain", settings["explain"], str)
    model.report_ = check_type("report", settings["report"], dict)
    for name in ("transduction", "cross_validated"):
        values = arrays.pop(name)
        if values.dtype.kind not in "fiu" or not len(values):
            raise ValueError(f"{name} must hold numbers, got {values.dtype}.")
        if model.graph_ is not None and len(values) != model.graph_.num_nodes:
            raise ValueError(f"{name} must have one row per node, got {len(values)}.")
        setattr(model, f"{name}_", values)
    widths = check_type("widths", settings["widths"], list)
    if not 2 <= len(widths) <= _MOST_LAYERS + 1 or widths[0] != model.n_features_in_:
        raise ValueError(f"widths must begin with {model.n_features_in_}, got {widths}."[:200])
    stored = sum(array.size for array in arrays.values())
    for width in widths:
        check_count(cls.__name__, width, "widths", low=1, high=max(stored, 1))
    check_memory(cls.__name__, 8.0 * sum(a * b for a, b in pairwise(widths)), "the head")
    model.head_ = empty_layers(widths)
    state = {name.removeprefix("head."): finite(name, array) for name, array in arrays.items()}
    model.head_.load_state_dict(state)  # strict: refuses missing, extra and misshapen arrays
    model._restore_more(settings)
    return model


def _restore_chosen(owner: str, stored: Any) -> dict[str, Any]:
    """Return the settings of a diffusion, checked as the constructor checks them."""
    chosen = {"signed": False, **check_type("chosen", stored, dict)}  # older files do not have it
    if set(chosen) != set(DIFFUSION):
        raise ValueError(f"chosen must have {', '.join(DIFFUSION)}.")
    check_choice(owner, chosen["variant"], "variant", tuple(VARIANTS))
    check_choice(owner, chosen["normalize"], "normalize", NORMALIZATIONS)
    for name in ("directed", "signed"):
        check_type(name, chosen[name], bool)
    of_transition = ("eps", "self_loops", "directed", "signed")
    make_transition(chosen["variant"], **{name: chosen[name] for name in of_transition})
    check_number(owner, chosen["lam"], "lam")
    if chosen["num_steps"] is not None:
        check_steps(owner, chosen["num_steps"])
    if chosen["rtol"] is not None:
        check_number(owner, chosen["rtol"], "rtol", strict=True)
    return chosen
