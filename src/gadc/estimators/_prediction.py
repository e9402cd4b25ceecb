"""Predictions of a fitted classifier: a trained head on features diffused over a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from torch import Tensor
from torch_geometric.data import Data

from gadc.estimators._graph_predictor import GraphPredictor
from gadc.estimators._labels import known_labels


class ClassPredictor(ClassifierMixin, GraphPredictor):  # type: ignore[misc]
    """Predict classes from the attributes that `GADCClassifier.fit` sets."""

    classes_: NDArray[Any]
    unlabeled: Any

    def predict(
        self, X: Any, adjacency: Any = None, *, edges_to_known: Any = None, X_known: Any = None
    ) -> NDArray[Any]:
        """Predict the class of each row of X.

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
        return self._classes_of(self._scores(X, adjacency, edges_to_known, X_known))

    def predict_proba(
        self, X: Any, adjacency: Any = None, *, edges_to_known: Any = None, X_known: Any = None
    ) -> NDArray[Any]:
        """Predict the probability of each class, in the order of `classes_`; arguments as in `predict`."""
        return _probabilities(self._scores(X, adjacency, edges_to_known, X_known))

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
        known, labels = known_labels(type(self).__name__, y, X, self.unlabeled)
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(accuracy_score(labels, predicted[known], sample_weight=weight))

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
