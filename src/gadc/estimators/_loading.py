"""Read a model file without knowing which estimator wrote it."""

from __future__ import annotations

import os
from typing import TypeAlias

from gadc._base import persistence
from gadc.estimators._classifier import GADCClassifier
from gadc.estimators._multilabel import GADCMultilabelClassifier
from gadc.estimators._regressor import GADCRegressor

NodeModel: TypeAlias = GADCClassifier | GADCMultilabelClassifier | GADCRegressor
KINDS: dict[str, type[NodeModel]] = {
    "GADCClassifier": GADCClassifier,
    "GADCMultilabelClassifier": GADCMultilabelClassifier,
    "GADCRegressor": GADCRegressor,
}


def load_model(path: str | os.PathLike[str]) -> NodeModel:
    """Read a fitted classifier, multi-label classifier or regressor from its file."""
    kind = persistence.kind_of(path)
    if kind not in KINDS:
        raise ValueError(f"{path} must hold one of {', '.join(KINDS)}, got {kind!r}.")
    return KINDS[kind].load(path)
