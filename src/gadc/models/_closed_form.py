"""Models whose training has a closed form, so that attacks can go through it, and what stands in for others.

`trained_on(data, x, edge_index, edge_weight)` of such a model trains on that graph, with the labels and masks
of `data`, and predicts: one differentiable function. `fit` and `through_training` follow from it. For models
that are trained by gradients, a linear head on the same diffusion stands in (`closed_form_scores`).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data

from gadc._base.scalars import check_count, check_number
from gadc.models._feature_space import leading_directions
from gadc.models._model import Fitted, Model
from gadc.models._training.callbacks import Callback
from gadc.models._training.loop import Trained, accuracy
from gadc.models._training.ridge import train_head

Scores = Callable[..., Tensor]


@dataclass(frozen=True, kw_only=True)
class ClosedForm(Model):
    """Base of the models that are trained by solving linear equations; nothing is drawn at random."""

    @abstractmethod
    def trained_on(
        self, data: Data, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Scores]:
        """Train on a graph with the labels and masks of `data`.

        Returns:
            The scores of all nodes of the graph, differentiable through the training, and the trained model
            as a function `(x, edge_index, edge_weight=None) -> scores`, which may be a module with buffers.
        """

    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Solve for the weights; there are no epochs, so `seed` and `callbacks` have no effect."""
        with torch.no_grad():
            logits, scores = self.trained_on(data, data.x, data.edge_index, data.edge_weight)
        val, labels = logits[data.val_mask], data.y[data.val_mask]
        loss = cross_entropy(val, labels).item() if len(labels) else math.nan
        module = scores if isinstance(scores, nn.Module) else nn.Module()
        return Fitted(logits, Trained(0, accuracy(val, labels), loss, [], []), module, scores)

    def through_training(self, data: Data, *, seed: int = 0) -> Scores:
        """Return training and prediction as one function of the graph; see `Model.through_training`."""

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            return self.trained_on(data, x, edge_index, edge_weight)[0]

        return scores


def closed_form_scores(
    data: Data,
    features: Tensor,
    diffusion: Callable[[Tensor, Tensor | None], Callable[[Tensor], Tensor]],
    *,
    rank: int = 128,
    penalty: float = 0.01,
) -> Scores:
    """Return the function `(x, edge_index, edge_weight=None) -> scores of all nodes`; it does not use `x`.

        F = S(A) X V,    scores = F W,    W: ridge regression on the rows of the training nodes

    Args:
        data: The graph, whose labels and `train_mask` are used.
        features: Features X as the model diffuses them, shape (n, d).
        diffusion: Function `(edge_index, edge_weight) -> S` that returns the linear map S of columns.
        rank: Largest number of columns of X V, 128 by default; V are the leading directions of X.
        penalty: Weight of the penalty relative to the squared norm of the rows of the training nodes, 0.01 by
            default.
    """
    check_count("closed_form_scores", rank, "rank", low=1)
    check_number("closed_form_scores", penalty, "penalty", strict=True)
    labelled = data.__copy__()
    labelled.train_mask = data.train_mask & (data.y >= 0)
    count = int(labelled.train_mask.sum())
    if not count:
        raise ValueError("closed_form_scores: train_mask must name at least one node with a label, got none.")
    features = features.detach()
    directions = leading_directions(features, rank)
    narrow = features if directions is None else features @ directions

    def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        rows = diffusion(edge_index, edge_weight)(narrow)
        return train_head(rows, labelled, penalty=penalty * count)(rows)

    return scores
