"""Models that train a head, a linear model or an MLP, on features that stay fixed during training."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch_geometric.data import Data

from gadc._base.threads import threads_for
from gadc.models._closed_form import closed_form_scores
from gadc.models._model import Fitted, TrainedModel
from gadc.models._training.callbacks import Callback
from gadc.models._training.heads import MLP, build_head
from gadc.models._training.loop import Trained, train

Parts: TypeAlias = tuple[Tensor, Callable[[Tensor], Tensor]]  # features and the linear map of their columns


@dataclass(frozen=True, kw_only=True)
class HeadModel(TrainedModel):
    """Base of the models with a head on fixed features.

    Args:
        head: "linear" (default) or "mlp".
        hidden: Width of the hidden layers of an MLP, 64 by default.
        num_layers: Number of layers of an MLP, 2 by default.
        dropout: Probability of dropout, 0 by default.
        input_dropout: Whether dropout acts on the input of the head as well, True by default.
        init: Initialisation of the weights, see `gadc.models._training.heads`.
    """

    head: str = "linear"
    hidden: int = 64
    num_layers: int = 2
    dropout: float = 0.0
    input_dropout: bool = True
    init: str = "default"

    def _fit_head(
        self,
        features: Tensor,
        data: Data,
        seed: int,
        callbacks: Sequence[Callback],
        class_weight: Tensor | None = None,
    ) -> tuple[MLP, Trained]:
        """Train a head on the rows of the split; torch's global random numbers are left as they were."""
        num_classes = int(data.y.max()) + 1
        train_rows, val_rows = features[data.train_mask], features[data.val_mask]
        weight = data.get("sample_weight")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            head = build_head(
                self.head,
                features.shape[1],
                num_classes,
                hidden=self.hidden,
                num_layers=self.num_layers,
                dropout=self.dropout,
                input_dropout=self.input_dropout,
                init=self.init,
            ).to(features.dtype)
            weights = sum(layer.numel() for layer in head.parameters())
            with threads_for(max(len(train_rows), len(val_rows)) * weights):
                trained = train(
                    head,
                    lambda: head(train_rows),
                    lambda: head(val_rows),
                    data.y[data.train_mask],
                    data.y[data.val_mask],
                    self._training(),
                    class_weight=class_weight,
                    sample_weights=(None, None)
                    if weight is None
                    else (weight[data.train_mask], weight[data.val_mask]),
                    resumable=True,
                    callbacks=callbacks,
                )
        return head, trained


@dataclass(frozen=True, kw_only=True)
class DiffuseFirst(HeadModel):
    """Base of the models that diffuse the features once and train a head on the result."""

    @abstractmethod
    def aggregate(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return the diffused features, shape (n, d); differentiable in `x` and `edge_weight`."""

    def diffusion(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Parts | None:
        """Return features and the linear map of their columns that together make up `aggregate`.

        `Fitted.scores` then maps to the few columns of the head first, as S (X W) = (S X) W. None, the
        default, stands for an aggregation that is not such a product.
        """
        return None

    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Diffuse once, then train the head; see `Model.fit`."""
        with torch.no_grad():
            features = self.aggregate(data.x, data.edge_index, data.edge_weight)
        module, trained = self._fit_head(features, data, seed, callbacks)

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            parts = None if module.training else self.diffusion(x, edge_index, edge_weight)
            if parts is None:
                return cast("Tensor", module(self.aggregate(x, edge_index, edge_weight)))
            features, diffuse = parts
            first = cast("nn.Linear", module.layers[0])
            return module.after_first(diffuse(linear(features, first.weight)) + first.bias)

        with torch.no_grad():
            logits = module(features)
        return Fitted(logits, trained, module, scores)

    def through_training(self, data: Data, *, seed: int = 0) -> Callable[..., Tensor] | None:
        """Train a ridge head in closed form on the same diffusion; see `Model.through_training`.

        It stands in for the trained head, which sees the same features. None if the aggregation is not a
        linear map of columns.
        """
        found = self.diffusion(data.x, data.edge_index, data.edge_weight)
        if found is None:
            return None
        return closed_form_scores(
            data, found[0], lambda *edges: cast("Parts", self.diffusion(data.x, *edges))[1]
        )
