"""Predictions of a fitted classifier: a trained head on features diffused over a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn
from torch_geometric.data import Data

from gadc._base.validation import check_finite_result
from gadc.datasets._border import check_graph
from gadc.estimators._arrays import to_sparse_tensor, to_tensor
from gadc.estimators._base import DiffusionEstimator
from gadc.estimators._graph_data import edges_of, match_features, read_edges, with_identity
from gadc.estimators._labels import known_labels
from gadc.models.auto import Ensemble


class DiffusionPredictor(ClassifierMixin, DiffusionEstimator):  # type: ignore[misc]
    """Predict classes from the attributes that `GADCClassifier.fit` sets."""

    classes_: NDArray[Any]
    head_: nn.Module
    scale_: float
    ensemble_: Ensemble | None
    n_features_in_: int

    def predict(self, X: Any, adjacency: Any = None) -> NDArray[Any]:
        """Predict the class of each row of X.

        Args:
            X: Features; on the graph of `fit`, one row per node of it.
            adjacency: Graph of these rows, if it is another graph. Default: the graph of `fit`.
        """
        return self._classes_of(self._scores(X, adjacency))

    def predict_proba(self, X: Any, adjacency: Any = None) -> NDArray[Any]:
        """Predict the probability of each class, in the order of `classes_`; arguments as in `predict`."""
        return _probabilities(self._scores(X, adjacency))

    def predict_log_proba(self, X: Any, adjacency: Any = None) -> NDArray[Any]:
        """Predict the logarithms of the probabilities; arguments as in `predict`."""
        return _log_probabilities(self._scores(X, adjacency))

    def decision_function(self, X: Any, adjacency: Any = None) -> NDArray[Any]:
        """Return the score of each class; for two classes, the score of the second minus the first."""
        scores: NDArray[Any] = self._scores(X, adjacency).double().numpy()
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_data(self, data: Data) -> NDArray[Any]:
        """Predict the class of each node of a `Data`.

        Args:
            data: Features `x` and optionally the graph (`edge_index`, `edge_weight`) and `feature_names`, by
                which the columns are matched with the features of `fit`. For another graph than the graph
                of `fit`, see `ensemble_`; without `edge_index` the graph of `fit` is used.

        Returns:
            Array of classes, shape (n,).
        """
        return self._classes_of(self._data_scores(data))

    def predict_proba_data(self, data: Data) -> NDArray[Any]:
        """Predict the probability of each class for each node of a `Data`; see `predict_data`.

        Returns:
            Array of probabilities in the order of `classes_`, shape (n, classes).
        """
        return _probabilities(self._data_scores(data))

    def score(self, X: Any, y: Any, sample_weight: Any = None, adjacency: Any = None) -> float:
        """Return the accuracy on the rows of X that have a label."""
        predicted = self.predict(X, adjacency)
        known, labels = known_labels(type(self).__name__, y, X)
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(accuracy_score(labels, predicted[known], sample_weight=weight))

    def _scores(self, X: Any, adjacency: Any) -> Tensor:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float32)
        graph = self._predict_graph(adjacency, X.shape[0])
        x = to_tensor(X) if self.ensemble_ is None else to_sparse_tensor(X)
        return self._node_scores(x, graph, elsewhere=graph is not self.graph_ and not self._is_own(graph))

    def _data_scores(self, data: Data) -> Tensor:
        check_is_fitted(self)
        sparse = self.ensemble_ is not None
        data = check_graph(
            type(self).__name__, with_identity(data) if sparse else data, needs=("x",), keep_sparse=sparse
        )
        names = getattr(self, "feature_names_in_", None)
        x = match_features(type(self).__name__, data, self.n_features_in_, names)
        graph = read_edges(type(self).__name__, data, len(x))
        if graph is not None:
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
            if self.ensemble_ is None:
                features = self._aggregate(x, graph, check_convergence=False)
                scores: Tensor = self.head_(features / self.scale_)
            else:
                scores = self.ensemble_(x, *edges_of(graph), elsewhere=elsewhere)
        advice = "scale the features and the edge weights to the range of fit"
        return check_finite_result(type(self).__name__, scores, "the scores of the classes", advice)

    def _classes_of(self, scores: Tensor) -> NDArray[Any]:
        predicted: NDArray[Any] = self.classes_[scores.argmax(1).numpy()]
        return predicted


def _probabilities(scores: Tensor) -> NDArray[Any]:
    probabilities: NDArray[Any] = np.exp(_log_probabilities(scores))
    return probabilities


def _log_probabilities(scores: Tensor) -> NDArray[Any]:
    # In double precision, so that rows of probabilities sum to one as closely as metrics demand.
    log_proba: NDArray[Any] = scores.double().log_softmax(1).numpy()
    return log_proba
