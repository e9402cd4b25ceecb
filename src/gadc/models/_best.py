"""The best of several models, chosen on the validation nodes of each run and never on test nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch_geometric.data import Data

from gadc.models._model import Fitted, Model
from gadc.models._training.callbacks import Callback


@dataclass(frozen=True, kw_only=True)
class BestOf(Model):
    """Fit every candidate and keep the one with the highest validation accuracy; the first one wins a tie.

    Args:
        candidates: Settings of each candidate, with the name of its model under `model`.
        make: Function that builds a model from a name and settings, such as `make_model`.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> candidates = [{"model": "gadc", "epochs": 5}, {"model": "mlp", "epochs": 5}]
        >>> make_model("best", candidates=candidates).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    candidates: Sequence[dict[str, Any]]
    make: Callable[..., Model] = field(repr=False)

    def __post_init__(self) -> None:
        if not self.candidates:
            raise ValueError("BestOf: candidates must hold at least one model, got none.")
        self._models()

    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Fit all candidates on the same data and return the best."""
        fitted = [model.fit(data, seed=seed, callbacks=callbacks) for model in self._models()]
        return max(fitted, key=lambda one: _rank(one.trained.val_accuracy))

    def _models(self) -> list[Model]:
        return [
            self.make(one["model"], **{name: value for name, value in one.items() if name != "model"})
            for one in self.candidates
        ]


def _rank(val_accuracy: float) -> float:
    return -math.inf if math.isnan(val_accuracy) else val_accuracy  # a model that diverged is never best
