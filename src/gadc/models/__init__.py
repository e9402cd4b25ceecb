"""Models by name, all of one shape: a frozen dataclass of settings with `fit(data, seed=...) -> Fitted`.

A new model is one file here and one line in `MODELS`; the experiments find it by that name.
"""

from __future__ import annotations

from typing import Any

from gadc.models.airgnn import AirGNN
from gadc.models.appnp import APPNP
from gadc.models.base import Fitted, Model
from gadc.models.best import BestOf
from gadc.models.gadc import GADC
from gadc.models.gat import GAT
from gadc.models.gcn import GCN
from gadc.models.glp import GLP
from gadc.models.irls import IRLS
from gadc.models.label_propagation import LabelPropagation
from gadc.models.mlp import MLPModel
from gadc.models.s2gc import S2GC

MODELS: dict[str, type[Model]] = {
    "gadc": GADC,
    "mlp": MLPModel,
    "gcn": GCN,
    "gat": GAT,
    "appnp": APPNP,
    "glp": GLP,
    "s2gc": S2GC,
    "irls": IRLS,
    "airgnn": AirGNN,
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


__all__ = [
    "APPNP",
    "GADC",
    "GAT",
    "GCN",
    "GLP",
    "IRLS",
    "MODELS",
    "S2GC",
    "AirGNN",
    "BestOf",
    "Fitted",
    "LabelPropagation",
    "MLPModel",
    "Model",
    "make_model",
]
