"""Models whose module passes over the graph in every epoch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from gadc._base.memo import remembering
from gadc._base.scalars import check_count
from gadc._base.validation import check_features
from gadc.diffusion import Plain, normalize_rows
from gadc.models._fast.receptive_field import receptive_field
from gadc.models._fast.sparse_features import SparseFeatures, sparse_or_dense
from gadc.models._model import Fitted, TrainedModel
from gadc.models._training.callbacks import Callback
from gadc.models._training.loop import train
from gadc.operators import LinearOperator


@dataclass(frozen=True, kw_only=True)
class GraphModel(TrainedModel):
    """Base of the models that pass over the graph in every epoch.

    Args:
        hidden: Width of the hidden layers, 64 by default.
        dropout: Probability of dropout, 0.5 by default.
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
        """Return an untrained module `(features, graph) -> scores of all nodes`."""

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return the operator that the module receives as its graph: Â, unless a model overrides it."""
        return Plain()(x, edge_index, edge_weight)

    @property
    def receptive_hops(self) -> int | None:
        """How many hops of `graph` the score of a node depends on; None if it may depend on every node."""
        return None

    @property
    def drops_features(self) -> bool:
        """Whether the module starts with dropout on the features and a linear map of them.

        Features with few entries that are not zero are then trained on as a sparse matrix.
        """
        return False

    def parameter_groups(self, module: nn.Module) -> list[dict[str, Any]] | None:
        """Return the parameter groups of the optimiser; None, the default, is one group of all parameters."""
        return None

    def penalty(self, module: nn.Module) -> Callable[[], Tensor] | None:
        """Return a function that computes a further term of the loss; None, the default, adds nothing."""
        return None

    def scorer(
        self, module: nn.Module, targets: Tensor, features: Tensor | SparseFeatures, graph: LinearOperator
    ) -> Callable[[], Tensor]:
        """Return the function that training calls in every epoch for the scores of some nodes.

        Args:
            module: The module in training.
            targets: Mask of the nodes whose scores are needed, shape (n,).
            features: Normalised features.
            graph: The operator of `graph`.
        """
        field = receptive_field(targets, features, graph, self.receptive_hops)
        return lambda: cast("Tensor", module(field.features, field.graph)[field.targets])

    @remembering()
    def fit(self, data: Data, *, seed: int = 0, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Train on the part of the graph that the scores of the split depend on; see `Model.fit`."""
        with torch.no_grad():
            features = self._features(data.x)
            graph = self.graph(features, data.edge_index, data.edge_weight)
            seen = sparse_or_dense(features) if self.drops_features else features
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

    def through_training(self, data: Data, *, seed: int = 0) -> Callable[..., Tensor] | None:
        """Differentiate the last steps of the training; see `Model.through_training`."""
        return self._unrolled(data, seed) if self.differentiable else None

    def _features(self, x: Tensor) -> Tensor:
        return normalize_rows(check_features(type(self).__name__, x), self.normalize)
