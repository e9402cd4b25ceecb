"""A purification in front of any model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Tensor
from torch_geometric.data import Data

from gadc.models._model import Fitted, Model
from gadc.models._training.callbacks import Callback


@dataclass(frozen=True, kw_only=True)
class Purified(Model):
    """Trains the model on the purified graph; `scores` purifies what it is given, too.

    It passes on what gradient the two parts have; that it declares none is the safe side.

    Args:
        purifier: One of `gadc.transforms.purification`, or any other `Data -> Data`.
        model: Any model.
    """

    differentiable: ClassVar[bool] = False

    purifier: Callable[[Data], Data]
    model: Model

    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Purify once, then train."""
        fitted = self.model.fit(self.purifier(data), seed=seed, callbacks=callbacks)

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            pure = self.purifier(Data(x=x, edge_index=edge_index, edge_weight=edge_weight))
            return fitted.scores(pure.x, pure.edge_index, pure.edge_weight)

        return replace(fitted, scores=scores)
