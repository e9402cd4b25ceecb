"""The option `robust` of the classifier: a model that keeps its accuracy where edges are attacked."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch_geometric.data import Data

from gadc._base import persistence
from gadc._base.scalars import check_choice
from gadc.estimators._ensemble_file import finite
from gadc.estimators._relations import refuse_relations
from gadc.models import Fitted, RobustRidge
from gadc.models._robust_ridge import GOALS, restored


def check_goal(model: Any) -> None:
    """Refuse a goal that does not exist, and negative weights."""
    if model.robust is None:
        return
    owner = type(model).__name__
    check_choice(owner, model.robust, "robust", tuple(GOALS))
    if model.signed:
        raise ValueError(f"{owner}: signed must be False for a robust model, got True.")


def fit_robust(model: Any, data: Data) -> Fitted:
    """Fit the robust model and set the attributes that predictions read."""
    if model.graph_ is None:
        raise ValueError(f"{type(model).__name__}: robust={model.robust!r} requires a graph, got none.")
    refuse_relations(type(model).__name__, model.graph_, "by a single variant, not by a robust model")
    model.relation_weights_ = None
    fitted = RobustRidge(goal=model.robust).fit(data)
    model.head_, model.ensemble_, model.scale_ = fitted.module, None, 1.0
    model.explain_ = f"A robust model was requested ({model.robust}); nothing was compared."
    model.report_ = {}
    return fitted


def restore_robust(model: Any, arrays: persistence.Arrays) -> nn.Module:
    """Build the module from the arrays of a model file."""
    tensors = {}
    for name, array in arrays.items():
        whole = name.endswith(".nodes")
        tensors[name.removeprefix("head.")] = torch.from_numpy(array) if whole else finite(name, array)
    module = restored(model.robust, tensors)
    size = model.n_features_in_
    rows = tensors["graph"].T if model.robust == "evasion" else tensors["beliefs.rows"]
    if rows.shape[1] != size:
        raise ValueError(f"the arrays must have {size} features.")
    return module
