"""Predictions of a fitted estimator: a trained head on features diffused over a graph."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn
from torch_geometric.data import Data

from gadc._base.validation import check_finite_result
from gadc.datasets._border import check_graph
from gadc.estimators import _stored_parts as stored_parts
from gadc.estimators._arrays import to_sparse_tensor, to_tensor
from gadc.estimators._base import DiffusionEstimator
from gadc.estimators._graph_data import edges_of, match_features, read_edges, with_identity
from gadc.estimators._new_nodes import join_graphs, join_rows
from gadc.estimators._relations import match_relations
from gadc.models.auto import Ensemble

if TYPE_CHECKING:
    from typing import Self  # Python 3.11


class GraphPredictor(DiffusionEstimator):
    """Predict from the attributes that `fit` sets; save and load them."""

    head_: nn.Module
    scale_: float
    ensemble_: Ensemble | None
    n_features_in_: int
    features_: Tensor | None
    verbose: bool
    robust: str | None = None  # goal of a robust model, for the estimators that know it
    _dtype: tuple[type[Any], ...] = (np.float32,)  # of X
    _output = "the scores of the classes"
    _store: Any  # writes a model to a file
    _restore: stored_parts.Restore

    @abstractmethod
    def _answers(self, scores: Tensor) -> NDArray[Any]:
        """Return what the outputs of the head say about each node."""

    def predict(
        self, X: Any, adjacency: Any = None, *, edges_to_known: Any = None, X_known: Any = None
    ) -> NDArray[Any]:
        """Predict the class, the target or the labels (0 or 1) of each row of X.

        Args:
            X: Features; on the graph of `fit`, one row per node of it.
            adjacency: Graph of these rows, if it is another graph. Default: the graph of `fit`.
            edges_to_known: For new nodes of the graph of `fit`: weights >= 0 of their edges to its nodes, a
                dense or sparse matrix with one row per row of X and one column per node of `fit`. `adjacency`
                then holds the edges among the new nodes. The answer is exactly that of the joined graph.
                Default: none.
            X_known: Features of the nodes of `fit`, for a loaded model, whose file does not hold them.
                Default: the features of `fit`.
        """
        return self._answers(self._scores(X, adjacency, edges_to_known, X_known))

    def predict_data(self, data: Data) -> NDArray[Any]:
        """Predict the class, the target or the labels (0 or 1) of each node of a `Data`.

        Args:
            data: Features `x` and optionally the graph (`edge_index`, `edge_weight`) and `feature_names`, by
                which the columns are matched with the features of `fit`. For another graph than the graph
                of `fit`, see `GADCClassifier.ensemble_`; without `edge_index` the graph of `fit` is used.

        Returns:
            Array with one row per node.
        """
        return self._answers(self._data_scores(data))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file (safetensors with JSON, no pickle)."""
        check_is_fitted(self)
        self._store(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote; a ValueError says why a file is not a valid model."""
        model: Self = stored_parts.load(cls, path, cls._restore)
        return model

    def _scores(self, X: Any, adjacency: Any, edges_to_known: Any = None, X_known: Any = None) -> Tensor:
        check_is_fitted(self)
        if edges_to_known is not None:
            return self._new_scores(X, adjacency, edges_to_known, X_known)
        if X_known is not None:
            raise ValueError(f"{type(self).__name__}: X_known requires edges_to_known, got none.")
        x = self._rows(X)
        graph = self._predict_graph(adjacency, len(x))
        return self._node_scores(x, graph, elsewhere=graph is not self.graph_ and not self._is_own(graph))

    def _new_scores(self, X: Any, adjacency: Any, edges_to_known: Any, X_known: Any) -> Tensor:
        """Return the scores of new nodes by diffusion over the graph of `fit` joined with them."""
        owner = type(self).__name__
        if self.graph_ is None:
            raise ValueError(f"{owner}: edges_to_known requires a graph in fit, got none.")
        if self.relation_weights_ is not None:
            raise ValueError(
                f"{owner}: edges_to_known requires a graph with one relation in fit, "
                f"got {len(self.relation_weights_)}."
            )
        known = getattr(self, "features_", None) if X_known is None else self._rows(X_known)
        if known is None:
            raise ValueError(
                f"{owner}: X_known must hold the features of fit, which a model file does not keep, got none."
            )
        self._check_rows(len(known))
        new = self._rows(X)
        graph = join_graphs(owner, self.graph_, len(new), edges_to_known, adjacency, signed=self.signed)
        return self._node_scores(join_rows(known, new), graph, elsewhere=True)[len(known) :]

    def _rows(self, X: Any) -> Tensor:
        """Return checked features as a tensor."""
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=list(self._dtype))
        return to_tensor(X) if self.ensemble_ is None else to_sparse_tensor(X)

    def _data_scores(self, data: Data) -> Tensor:
        check_is_fitted(self)
        sparse = self.ensemble_ is not None
        data = check_graph(
            type(self).__name__, with_identity(data) if sparse else data, needs=("x",), keep_sparse=sparse
        )
        names = getattr(self, "feature_names_in_", None)
        x = match_features(type(self).__name__, data, self.n_features_in_, names)
        graph = read_edges(type(self).__name__, data, len(x), signed=self.signed)
        if graph is not None:
            graph = match_relations(type(self).__name__, graph, self.relation_weights_)
            return self._node_scores(x, graph, elsewhere=not self._is_own(graph))
        self._check_rows(len(x))
        return self._node_scores(x, self.graph_, elsewhere=False)

    def _is_own(self, graph: Data | None) -> bool:
        """Return whether this is the graph of `fit`, edge by edge."""
        own = self.graph_
        if graph is None or own is None or graph.num_nodes != own.num_nodes:
            return graph is own
        pairs = [(graph.edge_index, own.edge_index), (graph.edge_weight, own.edge_weight)]
        return all(
            one is other or (one is not None and other is not None and torch.equal(one, other))
            for one, other in pairs
        )

    def _node_scores(self, x: Tensor, graph: Data | None, *, elsewhere: bool) -> Tensor:
        """Return the scores of all nodes of a graph; `elsewhere` if it is another one than in `fit`."""
        with torch.no_grad():
            if self.robust is not None:
                scores = self.head_(x, *edges_of(graph))
            elif self.ensemble_ is None:
                features = self._aggregate(x, graph, check_convergence=False)
                scores = self._head_scores(features)
            else:
                scores = self.ensemble_(x, *edges_of(graph), elsewhere=elsewhere)
        advice = "scale the features and the edge weights to the range of fit"
        checked: Tensor = check_finite_result(type(self).__name__, scores, self._output, advice)
        return checked

    def _head_scores(self, features: Tensor) -> Tensor:
        out: Tensor = self.head_(features / self.scale_)
        return out

    def _set_features(self, count: int, names: Any) -> None:
        """Set the attributes by which scikit-learn knows the features."""
        self.n_features_in_ = count
        if names is not None and len(names):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {message}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
