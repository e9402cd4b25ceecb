"""Nodes as samples, so that scikit-learn's model selection leaves the graph whole.

Cross-validation splits rows. On a graph this would cut edges as well, and score a model on another graph than
the one it will be used on. Here a sample is the number of a node: a fold decides whose LABELS are known,
while features and graph stay whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_regressor
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, column_or_1d, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted


def _has(method: str) -> Any:
    return available_if(lambda wrapper: hasattr(wrapper.estimator, method))


def _reads_unlabelled(estimator: Any) -> bool:
    """Tell whether an estimator reads the label -1 as unlabelled; only known to be false in scikit-learn."""
    if isinstance(estimator, Pipeline):
        return _reads_unlabelled(estimator.steps[-1][1])
    module = type(estimator).__module__
    if module.startswith("sklearn.semi_supervised") or not module.startswith("sklearn."):
        return True
    return hasattr(estimator, "estimator") and _reads_unlabelled(estimator.estimator)


def _fit_labelled(estimator: Any, X: Any, nodes: NDArray[np.int64], labels: NDArray[Any]) -> Any:
    """Fit a classifier on the rows with a label, after transformers that see all rows."""
    final = estimator
    if isinstance(estimator, Pipeline):
        *steps, (_, final) = estimator.steps
        for _, step in steps:
            if step is None or step == "passthrough":
                continue
            if isinstance(step, SelectorMixin) or get_tags(step).target_tags.required:
                step.fit(_safe_indexing(X, nodes), labels)
            else:
                step.fit(X)
            X = step.transform(X)
    final.fit(_safe_indexing(X, nodes), labels)
    return estimator


class NodeClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Wrap a classifier so that its samples are node numbers.

    `fit(nodes, y)` hides all other labels. An estimator that reads -1 as unlabelled is fitted on all
    features, any other classifier of scikit-learn on the rows with a label; in a `Pipeline`, transformers see
    all features (selectors of features, which need y, the rows with a label), so that a `GADCTransformer` has
    its whole graph. `predict(nodes)` predicts all nodes and returns the requested ones. So
    `GridSearchCV(NodeClassifier(clf, X), grid)` with `fit(labelled, y[labelled])` never shows a model the
    labels it is scored on, and never cuts the graph.

    Args:
        estimator: Classifier with its graph in its constructor: a `GADCClassifier`, scikit-learn's
            `LabelSpreading`, or a `Pipeline` that ends in one of these or in any classifier of scikit-learn,
            such as `make_pipeline(GADCTransformer(adjacency), LogisticRegression())`. A classifier of another
            library must read -1 as unlabelled.
        features: Features X of all nodes.

    Attributes:
        estimator_: The fitted estimator.
        classes_: The classes of the estimator.

    Examples:
        >>> import numpy as np
        >>> from sklearn.model_selection import cross_val_score
        >>> from gadc.estimators import GADCClassifier, NodeClassifier
        >>> adjacency = np.kron(np.eye(2), np.ones((6, 6)))
        >>> X, y = np.repeat([[1.0, 0.0], [0.0, 1.0]], 6, axis=0), np.repeat([0, 1], 6)
        >>> classifier = GADCClassifier(adjacency, variant="II", num_steps=2, epochs=20, random_state=0)
        >>> cross_val_score(NodeClassifier(classifier, X), np.arange(12), y, cv=2)
        array([1., 1.])
    """

    def __init__(self, estimator: Any, features: Any) -> None:
        self.estimator = estimator
        self.features = features

    def fit(self, X: Any, y: Any) -> NodeClassifier:
        """Fit with the labels y of the nodes X, shape (k,) or (k, 1); all other labels are hidden."""
        if is_regressor(self.estimator):
            raise TypeError(
                f"NodeClassifier: estimator must be a classifier, got {type(self.estimator).__name__}; "
                "GADCRegressor cross-validates itself, see its cross_validated_."
            )
        nodes = self._nodes(X)
        if len(np.unique(nodes)) != len(nodes):
            raise ValueError("NodeClassifier: X must list each node once, got a node twice.")
        labels = column_or_1d(y, warn=True)
        check_consistent_length(nodes, labels)
        if not _reads_unlabelled(self.estimator):
            self.estimator_ = _fit_labelled(clone(self.estimator), self.features, nodes, labels)
            self.classes_ = self.estimator_.classes_
            return self
        # -1 fits into signed numbers; text, booleans and unsigned numbers need an object array
        dtype = labels.dtype if labels.dtype.kind in "if" else object
        every_label = np.full(np.shape(self.features)[0], -1, dtype=dtype)
        every_label[nodes] = labels
        self.estimator_ = clone(self.estimator).fit(self.features, every_label)
        self.classes_ = self.estimator_.classes_
        if any(name in (-1, "-1") for name in self.classes_.tolist()):
            raise ValueError(
                f"NodeClassifier: estimator must read -1 as unlabelled, got {type(self.estimator).__name__}, "
                "which learned it as a class."
            )
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each node in X."""
        return self._answer("predict", X)

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Predict the probability of each class for each node in X."""
        return self._answer("predict_proba", X)

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of the nodes in X."""
        return self._answer("decision_function", X)

    def _answer(self, method: str, X: Any) -> NDArray[Any]:
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
