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

    def _answers(self, scores: Tensor) -> NDArray[Any]:
        predicted: NDArray[Any] = self.classes_[scores.argmax(1).numpy()]
        return predicted


def _probabilities(scores: Tensor) -> NDArray[Any]:
    probabilities: NDArray[Any] = np.exp(_log_probabilities(scores))
    return probabilities


def _log_probabilities(scores: Tensor) -> NDArray[Any]:
    # In double precision, so that rows of probabilities sum to one as closely as metrics demand.
    log_proba: NDArray[Any] = scores.double().log_softmax(1).numpy()
    return log_proba
