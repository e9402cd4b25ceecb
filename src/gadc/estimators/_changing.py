"""A fitted classifier that follows its graph: features move, and the nodes concerned are read again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor
from torch_geometric.data import Data

from gadc.diffusion import DiffusionState, Impact, Update, normalize_rows
from gadc.estimators._prediction import ClassPredictor
from gadc.estimators._training_data import class_weights
from gadc.models import FeatureModel
from gadc.models._training.callbacks import Callback, TrainingState


class ChangingClassifier(ClassPredictor):
    """Update a fitted classifier after its graph has changed."""

    _graph: Data | None = None
    _state: DiffusionState | None = None
    _seen: Data  # labels, masks and weights of `fit`
    class_weight: Any
    transduction_: Any
    epoch_: int
    log_loss_: float
    validation_score_: float

    @property
    def graph_(self) -> Data | None:
        """Graph as a PyTorch Geometric `Data`, or None; after `update`, the changed graph."""
        if self._graph is None and self._state is not None:
            edges, weight = self._state.edges
            self._graph = Data(edge_index=edges, edge_weight=weight, num_nodes=self._state.num_nodes)
        return self._graph

    @graph_.setter
    def graph_(self, graph: Data | None) -> None:
        self._graph, self._state = graph, None

    def update(
        self,
        *,
        add: Tensor | tuple[Tensor, Tensor] | None = None,
        remove: Tensor | None = None,
        reweight: tuple[Tensor, Tensor] | None = None,
        x: Mapping[int, Any] | None = None,
        new_nodes: Tensor | None = None,
        refit: bool = False,
        tol: float = 1e-3,
    ) -> Update:
        """Change the graph of `fit`, move the features and predict the nodes concerned again.

        The head stays as it was trained, unless it is asked to be trained further. The first call prepares a
        `gadc.DiffusionState`, which takes as long as the diffusion in `fit`; later calls read the
        neighbourhood of the change only. New nodes have no label.

        Args:
            add: Edges to add, see `gadc.DiffusionState.update`. By default none.
            remove: Edges to remove. By default none.
            reweight: Edges and their new weights. By default none.
            x: New features by node number. By default no features change.
            new_nodes: Features of new nodes. By default none.
            refit: Train the head further, from its present weights, on the labels of `fit`, and predict all
                nodes again. By default it is not trained.
            tol: Allowed error of a row of S X relative to the root mean square row; read by the first call.
                1e-3 by default.

        Returns:
            What was done; `changed_rows` are the nodes whose features moved.

        Raises:
            ValueError: The variant is "auto" or IV+, or II with a number of steps; the graph is directed, has
                several relations or negative weights, or is missing; the model was loaded from a file, which
                holds no features; or the changes do not fit.

        Examples:
            >>> import numpy as np, torch
            >>> from gadc.estimators import GADCClassifier
            >>> adjacency = np.kron(np.eye(2), np.ones((4, 4)))
            >>> X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 4, axis=0)
            >>> y = ["cat", None, None, None, "dog", None, None, None]
            >>> model = GADCClassifier(adjacency, variant="plain", num_steps=4, random_state=0).fit(X, y)
            >>> done = model.update(new_nodes=torch.tensor([[0.0, 1.0]]), add=torch.tensor([[8], [4]]))
            >>> model.transduction_.tolist()[-1]
            'dog'
        """
        state = self._current_state(tol)
        moved = {node: _normalized(row, self.normalize) for node, row in (x or {}).items()}
        new = None if new_nodes is None else normalize_rows(torch.as_tensor(new_nodes), self.normalize)
        before = state.num_nodes
        done = state.update(add=add, remove=remove, reweight=reweight, x=moved, new_nodes=new)
        self._graph = None
        self._move_features(x or {}, new_nodes)
        if state.num_nodes > before:
            added = np.full(state.num_nodes - before, self.classes_[0], dtype=self.transduction_.dtype)
            self.transduction_ = np.concatenate([self.transduction_, added])
        rows = self._refit(state) if refit else done.changed_rows
        self.transduction_[rows.numpy()] = self._answers(self._row_scores(state, rows))
        return done

    def impact(self, u: int, v: int, weight: float = 1.0) -> Impact:
        """Tell what an edge would change in features and predictions, see `gadc.DiffusionState.impact`."""
        return self._current_state(1e-3).impact(u, v, weight, head=self._head_scores)

    def _current_state(self, tol: float) -> DiffusionState:
        """Return the state of the diffusion, which the first call makes."""
        check_is_fitted(self)
        owner = f"{type(self).__name__}.update"
        if self._state is not None:
            return self._state
        if self.ensemble_ is not None:
            raise ValueError(
                f"{owner}: variant must be a single variant, got 'auto', whose candidates are of many kinds "
                "and would all be trained again; fit the variant that explain_ names."
            )
        if self.robust is not None:
            raise ValueError(f"{owner}: robust must be None, got {self.robust!r}; fit again instead.")
        if self.graph_ is None or self.directed:
            got = "a directed graph" if self.directed else "none"
            raise ValueError(f"{owner}: the model must be fitted with an undirected graph, got {got}.")
        if self.relation_weights_ is not None:
            raise ValueError(f"{owner}: the model must be fitted on one relation, got several.")
        features = getattr(self, "features_", None)
        if features is None:
            raise ValueError(
                f"{owner}: features_ must hold the features of fit, which a file does not keep, got none."
            )
        names = ("variant", "lam", "num_steps", "eps", "self_loops")
        settings = {name: getattr(self, name) for name in names}
        rows, graph = normalize_rows(features, self.normalize), self.graph_
        self._state = DiffusionState(rows, graph.edge_index, graph.edge_weight, tol=tol, **settings)
        self.features_ = features.clone()
        return self._state

    def _move_features(self, x: Mapping[int, Any], new_nodes: Tensor | None) -> None:
        assert self.features_ is not None  # noqa: S101  # `_current_state` has checked it
        for node, row in x.items():
            self.features_[node] = torch.as_tensor(row).to(self.features_.dtype)
        if new_nodes is not None:
            self.features_ = torch.cat([self.features_, torch.as_tensor(new_nodes).to(self.features_.dtype)])

    def _row_scores(self, state: DiffusionState, rows: Tensor) -> Tensor:
        with torch.no_grad():
            return self._head_scores(state.rows(rows))

    def _refit(self, state: DiffusionState) -> Tensor:
        """Train the head from its present weights; return all nodes."""
        if not hasattr(self, "_seen"):
            raise ValueError(
                f"{type(self).__name__}.update: refit requires the labels of fit, which a file does not keep."
            )
        seen, n = self._seen, state.num_nodes
        data = Data(x=state.features / self.scale_, y=_padded(seen.y, n, -1))
        for name in ("train_mask", "val_mask", "sample_weight"):
            if seen.get(name) is not None:
                data[name] = _padded(seen[name], n, 0)
        settings = self._head_settings()
        if not seen.val_mask.any():
            settings["selection"] = "last"
        weights = class_weights(self.class_weight, self.classes_, seen.y)
        model = FeatureModel(**settings, class_weight=weights)
        fitted = model.fit(data, seed=0, callbacks=[_WarmStart(self.head_.state_dict())])
        self.head_, self.trained_ = fitted.module, fitted.trained
        self.epoch_, self.log_loss_ = fitted.trained.epoch, fitted.trained.val_loss
        self.validation_score_ = fitted.trained.val_accuracy / 100
        return torch.arange(n)

    def _head_settings(self) -> dict[str, Any]:
        raise NotImplementedError


class _WarmStart(Callback):
    """Begin a training with given weights."""

    def __init__(self, weights: dict[str, Any]) -> None:
        self._weights = {name: value.clone() for name, value in weights.items()}

    def on_start(self, state: TrainingState) -> None:
        """Load the weights."""
        state.module.load_state_dict(self._weights)


def _normalized(row: Any, kind: str) -> Tensor:
    return normalize_rows(torch.as_tensor(row)[None], kind)[0]


def _padded(values: Tensor, count: int, filler: int) -> Tensor:
    return torch.cat([values, values.new_full((count - len(values),), filler)])
