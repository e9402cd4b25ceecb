"""The shape that all models share, so that experiments, attacks and audits treat them alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from gadc._base.scalars import check_choice
from gadc.datasets._border import check_graph
from gadc.diffusion import NORMALIZATIONS
from gadc.models._training.callbacks import Callback
from gadc.models._training.loop import Trained, Training
from gadc.models._training.unrolling import WARM_EPOCHS, WarmStart, unrolled_scores


@dataclass(frozen=True)
class Fitted:
    """A trained model, as `Model.fit` returns it.

    Attributes:
        logits: Scores of all nodes of the graph in `fit`, shape (n, classes).
        trained: The chosen epoch, its validation figures and the curves of the training.
        module: The module with the trained weights, in evaluation mode.
        scores: Function `(x, edge_index, edge_weight=None) -> scores` for any graph with the same features,
            differentiable in `x` and `edge_weight` unless the model says otherwise.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> data = csbm(60, num_features=4, seed=0)
        >>> fitted = make_model("gcn", epochs=5).fit(data)
        >>> fitted.scores(data.x[:10], data.edge_index[:, :0]).shape
        torch.Size([10, 2])
    """

    logits: Tensor
    trained: Trained
    module: nn.Module
    scores: Callable[..., Tensor]


class Model(ABC):
    """Settings of a model; `fit` trains it and leaves the settings unchanged.

    Attributes:
        differentiable: Whether `Fitted.scores` passes a gradient to `edge_weight`; True unless a model
            overrides it.
        reads_edges: Whether `Fitted.scores` depends on the edges; True unless a model overrides it. A model
            that reads no edges cannot be moved by them after its training.
        reads_sparse: Whether `fit` takes sparse features as they are, and graphs without features; False
            unless a model overrides it.

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import make_model
        >>> data = csbm(60, num_features=4, seed=0)
        >>> make_model("appnp", epochs=5).fit(data, seed=1).logits.shape
        torch.Size([60, 2])
    """

    differentiable: ClassVar[bool] = True
    reads_edges: ClassVar[bool] = True
    reads_sparse: ClassVar[bool] = False

    def __init_subclass__(cls, **settings: Any) -> None:
        """Let `fit` of every model check its graph, so that no model has to remember it."""
        super().__init_subclass__(**settings)
        if "fit" in vars(cls):
            cls.fit = _checked(cls.fit)  # type: ignore[method-assign]

    @abstractmethod
    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Train on the nodes of `data.train_mask` and choose the epoch on the nodes of `data.val_mask`.

        Args:
            data: Features `x` of shape (n, d), `edge_index` of shape (2, m), optionally `edge_weight` of
                shape (m,), labels `y` of shape (n,), and the boolean masks, each of shape (n,).
            seed: Seed of the initial weights and of dropout, 0 by default. The global random numbers of torch
                are left as they were.
            callbacks: Called at the start and after every epoch of each training; none by default.

        Returns:
            The trained model.

        Raises:
            TypeError: An attribute of the graph has a type that cannot be understood.
            ValueError: An attribute is missing, or its values or its shape cannot be understood.
        """

    def through_training(self, data: Data, *, seed: int = 0) -> Callable[..., Tensor] | None:
        """Return training and prediction as one function of the graph, for attacks on the training.

        Args:
            data: The graph, as in `fit`; its labels and masks are used, its edges are not.
            seed: Seed of the training, 0 by default.

        Returns:
            A function `(x, edge_index, edge_weight=None) -> scores of all nodes` of a model that was trained
            on that very graph, differentiable in `edge_weight`; None, the default, if the model has no such
            function.
        """
        return None


def _checked(fit: Callable[..., Fitted]) -> Callable[..., Fitted]:
    """Return a `fit` that passes its graph through the check at the border of the package first."""

    @wraps(fit)
    def checked_fit(self: Model, data: Data, **options: Any) -> Fitted:
        owner = type(self).__name__
        needs = ("y", "train_mask", "val_mask") if self.reads_sparse else ("x", "y", "train_mask", "val_mask")
        data = check_graph(owner, data, needs=needs, keep_sparse=self.reads_sparse)
        if not bool(data.train_mask.any()):
            raise ValueError(f"{owner}: data.train_mask must select at least one node, got none.")
        unlabelled = int((data.y[data.train_mask | data.val_mask] < 0).sum())
        if unlabelled:
            raise ValueError(
                f"{owner}: data.train_mask and data.val_mask must select labelled nodes, "
                f"got {unlabelled:,} without a label."
            )
        return fit(self, data, **options)

    return checked_fit


@dataclass(frozen=True, kw_only=True)
class TrainedModel(Model):
    """Base of the models that are trained by gradients.

    Args:
        normalize: Row normalisation of the features: "none" (default), "sum" (signed sums, as published),
            "l1" or "l2".
        lr: Learning rate, 0.01 by default.
        weight_decay: Factor of the L2 penalty, 5e-4 by default.
        epochs: Maximum number of training steps, 200 by default.
        selection: Rule of model selection, "val-acc" by default: the first epoch of the highest validation
            accuracy. `gadc.models._training.selection` lists the others.
        patience: Number of epochs without an improvement after which training stops; None, the default, runs
            all epochs.
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

    def _unrolled(self, data: Data, seed: int) -> Callable[..., Tensor]:
        """Return `through_training` by the last steps of the training; see `_training.unrolling`.

        Calls without a gradient train from new weights. Calls with a gradient, which follow each other on
        slightly changed graphs, begin with the weights of the call before and train for a few epochs only.
        """
        warm = WarmStart()

        def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
            graph = _on_edges(data, x, edge_index, edge_weight)
            if edge_weight is None or not (edge_weight.requires_grad and torch.is_grad_enabled()):
                with torch.enable_grad():
                    return self.fit(graph, seed=seed).scores(x, edge_index, edge_weight).detach()
            epochs = self.epochs if warm.begin(edge_index) else min(self.epochs, WARM_EPOCHS)
            fitted = replace(self, epochs=epochs).fit(graph, seed=seed, callbacks=[warm])
            warm.keep(fitted.module)
            forward = partial(fitted.scores, x, edge_index, edge_weight)
            mask, decay = data.train_mask, self.weight_decay
            return unrolled_scores(fitted.module, forward, mask, data.y[mask], weight_decay=decay)

        return scores

    def _training(self) -> Training:
        return Training(
            lr=self.lr,
            weight_decay=self.weight_decay,
            epochs=self.epochs,
            selection=self.selection,
            patience=self.patience,
        )


def _on_edges(data: Data, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Data:
    """Return the labels and masks of a graph on other edges, held constant and without weights of 0."""
    changed = data.__copy__()
    changed.x, changed.edge_index, changed.edge_weight = x.detach(), edge_index, None
    if edge_weight is not None:
        weight = edge_weight.detach()
        changed.edge_index, changed.edge_weight = edge_index[:, weight != 0], weight[weight != 0]
    return changed
