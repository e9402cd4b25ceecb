"""The control without a graph: an MLP or a linear model on the features alone.

Rumelhart, Hinton and Williams, "Learning representations by back-propagating errors", Nature 1986. Every
figure of a graph method stands beside it: where it wins, the graph hurts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc.diffusion import normalize_rows
from gadc.models._head_model import HeadModel
from gadc.models._model import Fitted
from gadc.models._training.callbacks import Callback


@dataclass(frozen=True, kw_only=True)
class FeatureModel(HeadModel):
    """A head on the features alone, which never sees an edge.

    Args:
        head: "mlp" (default) or "linear"; the other settings are those of every head.
        class_weight: Weight of each class in the loss, in the order of the classes; None (default) weighs
            all classes alike.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import FeatureModel
        >>> data = csbm(60, num_features=4, seed=0)
        >>> FeatureModel(head="linear", epochs=5).fit(data).logits.shape
        torch.Size([60, 2])
    """

    reads_edges: ClassVar[bool] = False
    head: str = "mlp"
    class_weight: Sequence[float] | None = None

    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Train on the normalised features; see `Model.fit`."""
        features = normalize_rows(data.x, self.normalize)
        weight = None if self.class_weight is None else torch.tensor(self.class_weight, dtype=features.dtype)
        module, trained = self._fit_head(features, data, seed, callbacks, weight)

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            out: Tensor = module(normalize_rows(x, self.normalize))
            return out

        with torch.no_grad():
            logits = module(features)
        return Fitted(logits, trained, module, scores)
