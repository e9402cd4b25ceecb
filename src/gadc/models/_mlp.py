"""The graph-free control: an MLP on the features alone.

Rumelhart, Hinton and Williams, "Learning representations by back-propagating errors", Nature 1986. Every
figure of a graph method stands beside it: where it wins, the graph hurts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc.diffusion import normalize_rows
from gadc.models._model import Fitted, HeadSettings
from gadc.models._training.callbacks import Callback


@dataclass(frozen=True, kw_only=True)
class MLPModel(HeadSettings):
    """An MLP that never sees an edge."""

    head: str = "mlp"

    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Train on the normalised features."""
        features = normalize_rows(data.x, self.normalize)
        module, trained = self._fit_head(features, data, seed, callbacks)

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            out: Tensor = module(normalize_rows(x, self.normalize))
            return out

        with torch.no_grad():
            logits = module(features)
        return Fitted(logits, trained, module, scores)
