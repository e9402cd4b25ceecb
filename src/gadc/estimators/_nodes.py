"""Nodes as samples, so that scikit-learn's model selection works on a graph as it stands.

Cross-validation cuts rows. On a graph that would cut edges as well, and score a model that saw another graph
than the one to be deployed. Here a sample is the number of a node: a fold decides whose LABELS are known,
while features and graph stay whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted


def _has(method: str) -> Any:
    return available_if(lambda wrapper: hasattr(wrapper.estimator, method))


class NodeClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A transductive classifier whose samples are node numbers.

    `fit(nodes, y)` hides all other labels (-1) and fits the estimator on all features; `predict(nodes)`
    predicts all nodes and returns those asked for. So `GridSearchCV(NodeClassifier(clf, X), grid)` with
    `fit(labelled, y[labelled])` never shows a model the labels it is scored on, nor cuts the graph.

    Args:
        estimator: A classifier that reads -1 as unlabelled, its graph in its constructor: `GADCClassifier`, a
            `Pipeline` that ends in one, or scikit-learn's `LabelSpreading`.
        features: X of all nodes.

    Attributes:
        estimator_: The fitted estimator.
        classes_: Its classes.
    """

    def __init__(self, estimator: Any, features: Any) -> None:
        self.estimator = estimator
        self.features = features

    def fit(self, X: Any, y: Any) -> NodeClassifier:
        """Fit with the labels y of the nodes X, shape (k,) or (k, 1); all others are hidden."""
        nodes = self._nodes(X)
        if len(np.unique(nodes)) != len(nodes):
            raise ValueError("NodeClassifier: X must name each node once, got a node twice.")
        labels = column_or_1d(y, warn=True)
        check_consistent_length(nodes, labels)
        # -1 fits into signed numbers; among words, booleans and unsigned numbers it needs an object array
        dtype = labels.dtype if labels.dtype.kind in "if" else object
        everyone = np.full(np.shape(self.features)[0], -1, dtype=dtype)
        everyone[nodes] = labels
        self.estimator_ = clone(self.estimator).fit(self.features, everyone)
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each node in X."""
        return self._ask("predict", X)

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probability of each class for each node in X."""
        return self._ask("predict_proba", X)

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores of the nodes in X."""
        return self._ask("decision_function", X)

    def _ask(self, method: str, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        answers: NDArray[Any] = getattr(self.estimator_, method)(self.features)[self._nodes(X)]
        return answers

    def _nodes(self, X: Any) -> NDArray[np.int64]:
        nodes: NDArray[Any] = column_or_1d(X)
        count = np.shape(self.features)[0]
        if nodes.dtype.kind not in "iu":
            raise TypeError(f"NodeClassifier: X must hold node numbers (integers), got {nodes.dtype}.")
        if len(nodes) and not (nodes.min() >= 0 and nodes.max() < count):
            raise ValueError(
                f"NodeClassifier: X must hold node numbers from 0 to {count - 1}, "
                f"got {nodes.min()} to {nodes.max()}."
            )
        return nodes.astype(np.int64)
