"""The shape all models share, so that experiments and attacks treat them alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch_geometric.data import Data

from gadc._base.memo import remembering
from gadc._base.validation import check_choice, check_count, check_features
from gadc.diffusion import NORMALIZATIONS, Plain, normalize_rows
from gadc.models._fast.receptive_field import receptive_field
from gadc.models._fast.sparse_features import SparseFeatures, thin_or_dense
from gadc.models._training.callbacks import Callback
from gadc.models._training.heads import MLP, build_head
from gadc.models._training.loop import Trained, Training, train
from gadc.operators import LinearOperator


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
    """Settings of a model; `fit` trains it and changes nothing in it.

    Attributes:
        differentiable: Whether `scores` passes a gradient to `edge_weight`.
    """

    differentiable: ClassVar[bool] = True

    @abstractmethod
    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Train on the nodes of `data.train_mask` and choose the epoch on those of `data.val_mask`.

        Args:
            data: Features, edges, labels and masks.
            seed: Seed of the initial weights and of dropout.
            callbacks: Called at the start and after every epoch of each training; none by default.
        """


@dataclass(frozen=True, kw_only=True)
class TrainedModel(Model):
    """What all models that are trained by gradients share.

    Args:
        normalize: Row normalisation of the features: "none", "sum" (signed, as published), "l1" or "l2".
        lr: Learning rate.
        weight_decay: L2 term.
        epochs: Training steps at most.
        selection: Model selection, see `gadc.models._training.loop`.
        patience: Epochs without improvement after which training stops; None runs them all.
    """

    normalize: str = "none"
    lr: float = 0.01
    weight_decay: float = 5e-4
    epochs: int = 200
    selection: str = "val-acc"
    patience: int | None = None

    def __post_init__(self) -> None:
        check_choice(type(self).__name__, self.normalize, "normalize", NORMALIZATIONS)
        self._training()

    def _training(self) -> Training:
        return Training(
            lr=self.lr,
            weight_decay=self.weight_decay,
            epochs=self.epochs,
            selection=self.selection,
            patience=self.patience,
        )


@dataclass(frozen=True, kw_only=True)
class HeadSettings(TrainedModel):
    """What the models with a head on fixed features share.

    Args:
        head: "linear" or "mlp".
        hidden: Width of the MLP's hidden layers.
        num_layers: Number of its layers.
        dropout: Its dropout.
        input_dropout: Whether dropout acts on the input, too.
        init: Initialisation, see `gadc.models._training.heads`.
    """

    head: str = "linear"
    hidden: int = 64
    num_layers: int = 2
    dropout: float = 0.0
    input_dropout: bool = True
    init: str = "default"

    def _fit_head(
        self, features: Tensor, data: Data, seed: int, callbacks: Sequence[Callback]
    ) -> tuple[MLP, Trained]:
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
                resumable=True,
                callbacks=callbacks,
            )
        return head, trained


@dataclass(frozen=True, kw_only=True)
class DiffuseFirst(HeadSettings):
    """Models that diffuse the features once and train a head on them."""

    @abstractmethod
    def aggregate(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """The diffused features, differentiable in `x` and `edge_weight`."""

    def diffusion(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Callable[[Tensor], Tensor]] | None:
        """The features and the linear map of their columns that `aggregate` is made of, where it is.

        Scores then map to a few columns first, as S (X W) = (S X) W.
        """
        return None

    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Diffuse once, then train the head on the rows of the split."""
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


@dataclass(frozen=True, kw_only=True)
class GraphModel(TrainedModel):
    """What the models share that pass over the whole graph in every epoch.

    Args:
        hidden: Width of the hidden layers.
        dropout: Probability of dropout.
    """

    hidden: int = 64
    dropout: float = 0.5
    selection: str = "val-loss"

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        check_count(owner, self.hidden, "hidden", low=1)
        if not 0 <= self.dropout < 1:
            raise ValueError(f"{owner}: dropout must lie in [0, 1), got {self.dropout!r}.")

    @abstractmethod
    def build(self, in_features: int, num_classes: int) -> nn.Module:
        """An untrained module `(features, graph) -> scores of all nodes`."""

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """What the module sees of the edges: Â, unless the model says otherwise."""
        return Plain()(x, edge_index, edge_weight)

    @property
    def hops(self) -> int | None:
        """How far in `graph` the scores of a node look; None where they may depend on all nodes."""
        return None

    @property
    def drops_features(self) -> bool:
        """Whether the module is dropout on the features, a linear map of them, and what follows.

        It is then trained on those entries alone that are not zero, where these are few.
        """
        return False

    def parameter_groups(self, module: nn.Module) -> list[dict[str, Any]] | None:
        """Groups of the optimiser; None treats all parameters alike."""
        return None

    def penalty(self, module: nn.Module) -> Callable[[], Tensor] | None:
        """What is added to the loss of a step, from what the module's last pass left; None adds nothing."""
        return None

    def scorer(
        self, module: nn.Module, asked: Tensor, features: Tensor | SparseFeatures, graph: LinearOperator
    ) -> Callable[[], Tensor]:
        """What training calls in every epoch: scores of the nodes of the mask `asked`."""
        field = receptive_field(asked, features, graph, self.hops)
        return lambda: cast("Tensor", module(field.features, field.graph)[field.asked])

    @remembering()
    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Train on what of the graph the labels depend on; torch's global randomness is left as it was."""
        with torch.no_grad():
            features = self._features(data.x)
            graph = self.graph(features, data.edge_index, data.edge_weight)
            seen = thin_or_dense(features) if self.drops_features else features
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            module = self.build(features.shape[1], int(data.y.max()) + 1).to(features.dtype)
            trained = train(
                module,
                self.scorer(module, data.train_mask, seen, graph),
                self.scorer(module, data.val_mask, seen, graph),
                data.y[data.train_mask],
                data.y[data.val_mask],
                self._training(),
                parameters=self.parameter_groups(module),
                penalty=self.penalty(module),
                resumable=True,
                callbacks=callbacks,
            )

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            features = self._features(x)
            out: Tensor = module(features, self.graph(features, edge_index, edge_weight))
            return out

        with torch.no_grad():
            logits = module(seen, graph)
        return Fitted(logits, trained, module, scores)

    def _features(self, x: Tensor) -> Tensor:
        return normalize_rows(check_features(type(self).__name__, x), self.normalize)
