"""Models by name, all of one shape: a frozen dataclass of settings with `fit(data, seed=...) -> Fitted`.

A new model is one file here and one line in `MODELS`; the experiments find it by that name.
"""

from __future__ import annotations

from typing import Any

from gadc.models.base import Fitted, Model
from gadc.models.best import BestOf
from gadc.models.gadc import GADC
from gadc.models.label_propagation import LabelPropagation
from gadc.models.mlp import MLPModel

MODELS: dict[str, type[Model]] = {
    "gadc": GADC,
    "mlp": MLPModel,
    "label-propagation": LabelPropagation,
    "best": BestOf,
}


def make_model(name: str, **settings: Any) -> Model:
    """The model of that name with these settings."""
    if name not in MODELS:
        raise ValueError(f"make_model: name must be one of {', '.join(MODELS)}, got {name!r}.")
    if name == "best":  # the one model that is made of others
        return BestOf(make=make_model, **settings)
    return MODELS[name](**settings)


__all__ = ["GADC", "MODELS", "BestOf", "Fitted", "LabelPropagation", "MLPModel", "Model", "make_model"]
