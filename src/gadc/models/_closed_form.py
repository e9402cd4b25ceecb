"""Base of the models whose training has a closed form, so that attacks can go through it.

`trained_on(data, x, edge_index, edge_weight)` of such a model trains on that graph, with the labels and masks
of `data`, and predicts: one differentiable function. `fit` and `through_training` follow from it.
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

from gadc.models._model import Fitted, Model
from gadc.models._training.callbacks import Callback
from gadc.models._training.loop import Trained, accuracy
from gadc.models._training.ridge import kernel_scores, ridge_scores, ridge_targets, ridge_weight

PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
HEADS = {"linear": ridge_scores, "gaussian": kernel_scores}

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


@dataclass(frozen=True, eq=False)
class Head:
    """A head that was trained in closed form.

    Attributes:
        known: Rows of the training nodes, of unit size on average.
        size: Root of the mean squared norm that rows are divided by.
        targets: Targets of the training nodes.
        penalty: Weight of the penalty, relative to the mean squared norm.
        kind: A name in `HEADS`.
    """

    known: Tensor
    size: Tensor
    targets: Tensor
    penalty: float
    kind: str

    def __call__(self, rows: Tensor) -> Tensor:
        """Score rows; differentiable in these and in the rows of the training nodes."""
        return HEADS[self.kind](self.known, rows / self.size, self.targets, self.penalty)

    def weight(self) -> Tensor | None:
        """Return W of a head that is the product `rows @ W`; None for a kernel."""
        if self.kind != "linear":
            return None
        return ridge_weight(self.known, self.targets, self.penalty) / self.size


def train_head(rows: Tensor, data: Data, *, penalty: float | None = None, kind: str = "linear") -> Head:
    """Train a head on the rows of the training nodes.

    Args:
        rows: One row per node of `data`, shape (n, r).
        data: Labels and masks.
        penalty: Weight of the penalty, relative to the mean squared norm of the rows; None, the default,
            takes the one of `PENALTIES` with the highest accuracy on the validation nodes.
        kind: "linear" (default) or "gaussian".
    """
    known = rows[data.train_mask]
    mean = known.square().sum(1).mean()
    size = torch.where(mean > 0, mean, torch.ones_like(mean)).sqrt()
    targets = ridge_targets(data.y[data.train_mask], int(data.y.max()) + 1, rows.dtype)
    if penalty is None:
        with torch.no_grad():
            penalty = _best_penalty(Head(known / size, size, targets, 1.0, kind), rows, data)
    return Head(known / size, size, targets, penalty, kind)


def _best_penalty(head: Head, rows: Tensor, data: Data) -> float:
    val, labels = rows[data.val_mask], data.y[data.val_mask]
    if not len(labels):
        return 1.0
    heads = [Head(head.known, head.size, head.targets, one, head.kind) for one in PENALTIES]
    found = [accuracy(one(val), labels) for one in heads]
    return PENALTIES[found.index(max(found))]
