"""The shape all models share, so that experiments and attacks treat them alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from gadc.heads import build_head
from gadc.rows import NORMALIZATIONS
from gadc.training import Trained, Training, train
from gadc.validation import check_choice


@dataclass(frozen=True)
class Fitted:
    """A trained model.

    Attributes:
        logits: Scores of all nodes of the graph it was trained on.
        trained: The chosen epoch and the curves.
        module: The trained parameters.
        scores: `(x, edge_index, edge_weight=None) -> scores` for any graph, differentiable in `x` and
        `edge_weight`.
    """

    logits: Tensor
    trained: Trained
    module: nn.Module
    scores: Callable[..., Tensor]


class Model(ABC):
    """Settings of a model; `fit` trains it and changes nothing in it."""

    @abstractmethod
    def fit(self, data: Data, *, seed: int = 0) -> Fitted:
        """Train on `data.train_mask`, choose the epoch on `data.val_mask`."""


@dataclass(frozen=True, kw_only=True)
class HeadSettings(Model):
    """What the models with a head on fixed features share.

    Args:
        normalize: Row normalisation of the features: "none", "sum" (signed, as published), "l1" or "l2".
        head: "linear" or "mlp".
        hidden: Width of the MLP's hidden layers.
        num_layers: Number of its layers.
        dropout: Its dropout.
        input_dropout: Whether dropout acts on the input, too.
        init: Initialisation, see `gadc.heads`.
        lr: Learning rate.
        weight_decay: L2 term.
        epochs: Training steps.
        selection: Model selection, see `gadc.training`.
    """

    normalize: str = "none"
    head: str = "linear"
    hidden: int = 64
    num_layers: int = 2
    dropout: float = 0.0
    input_dropout: bool = True
    init: str = "default"
    lr: float = 0.01
    weight_decay: float = 5e-4
    epochs: int = 200
    selection: str = "val-acc"

    def __post_init__(self) -> None:
        check_choice(type(self).__name__, self.normalize, "normalize", NORMALIZATIONS)
        self._training()

    def _training(self) -> Training:
        return Training(
            lr=self.lr, weight_decay=self.weight_decay, epochs=self.epochs, selection=self.selection
        )

    def _fit_head(self, features: Tensor, data: Data, seed: int) -> tuple[nn.Module, Trained]:
        """Train a head on the rows that matter; torch's global randomness is left as it was."""
        num_classes = int(data.y.max()) + 1
        train_rows, val_rows = features[data.train_mask], features[data.val_mask]
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
            trained = train(
                head,
                lambda: head(train_rows),
                lambda: head(val_rows),
                data.y[data.train_mask],
                data.y[data.val_mask],
                self._training(),
            )
        return head, trained
