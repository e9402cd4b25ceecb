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
    """Train a model on a purified graph; `scores` purifies the graph it is given as well.

    `differentiable` is False, since nothing checks whether both parts pass gradients on.

    Args:
        purifier: Step `Data -> Data`, such as `gadc.transforms.Jaccard`.
        model: Model that is trained on the purified graph.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import GCN, Purified
        >>> from gadc.transforms import Garnet
        >>> model = Purified(purifier=Garnet(rank=4, neighbors=3), model=GCN(epochs=2))
        >>> model.fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
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
