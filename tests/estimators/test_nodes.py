"""`NodeClassifier`: cross-validation that leaves the graph whole."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from gadc.estimators import GADCClassifier, GADCRegressor, GADCTransformer, NodeClassifier
from tests.helpers.estimators import QUICK


def test_model_selection_works_over_nodes(communities):
    X, y, adjacency, truth = communities
    labelled = np.flatnonzero(y >= 0)
    model = NodeClassifier(GADCClassifier(adjacency, **QUICK), X)
    scores = cross_val_score(model, labelled, y[labelled], cv=4)
    assert scores.shape == (4,)
    assert scores.mean() > 0.8
    search = GridSearchCV(
        model,
        {"estimator__lam": [0.0, 32.0], "estimator__variant": ["plain", "II"]},
        cv=4,
        scoring="neg_log_loss",
    )
    search.fit(labelled.reshape(-1, 1), y[labelled])
    assert search.best_params_["estimator__lam"] == 32.0
    assert (search.predict(np.arange(120)) == truth).mean() > 0.9
    proba = cross_val_predict(model, labelled, y[labelled], cv=3, method="predict_proba")
    np.testing.assert_allclose(proba.sum(1), 1)
    assert clone(model).get_params()["estimator__epochs"] == 30


class _Recorder(ClassifierMixin, BaseEstimator):
    """Store the labels that it is fitted with."""

    def fit(self, X, y):
        self.seen_, self.classes_ = y, np.array([label for label in y if label != -1])
        return self


def test_node_classifier_passes_on_the_given_labels_only():
    model = NodeClassifier(_Recorder(), np.eye(5)).fit([4, 1], [7, 8])
    assert model.estimator_.seen_.tolist() == [-1, 8, -1, -1, 7]
    words = NodeClassifier(_Recorder(), np.eye(3)).fit([2], np.array(["a"]))
    assert words.estimator_.seen_.tolist() == [-1, -1, "a"]


def test_random_labels_are_scored_at_chance(communities):
    """A model that saw the labels it is scored on would score random labels above chance."""
    X, _, adjacency, _ = communities
    noise = np.random.RandomState(0).randint(0, 2, 120)
    strong = GADCClassifier(adjacency, "II", lam=0.01, num_steps=1, head="mlp", epochs=100, random_state=0)
    seen = strong.set_params(validation_fraction=0.0, hidden=512).fit(X, noise).score(X, noise)
    scores = cross_val_score(NodeClassifier(strong, X), np.arange(120), noise, cv=5)
    assert scores.mean() < 0.6 < seen


@pytest.mark.parametrize(
    "labels", [np.array(["a", "b"]), np.array([False, True]), np.array([0, 1], dtype=np.uint8)]
)
def test_node_classifier_accepts_labels_of_any_type(communities, labels):
    X, y, adjacency, _ = communities
    labelled = np.flatnonzero(y >= 0)
    model = NodeClassifier(GADCClassifier(adjacency, **QUICK), X).fit(labelled, labels[y[labelled]])
    assert model.classes_.tolist() == labels.tolist()
    assert model.score(labelled, labels[y[labelled]]) > 0.8
    assert model.decision_function(labelled).shape == (24,)


def test_node_classifier_wraps_pipelines_and_other_estimators(communities):
    X, y, adjacency, truth = communities
    labelled = np.flatnonzero(y >= 0)
    pipeline = make_pipeline(StandardScaler(), GADCClassifier(adjacency, **QUICK))
    assert NodeClassifier(pipeline, X).fit(labelled, y[labelled]).score(np.arange(120), truth) > 0.9
    spreading = NodeClassifier(LabelSpreading(kernel="knn"), X).fit(labelled, y[labelled])
    assert not hasattr(spreading, "decision_function")
    assert spreading.score(labelled, y[labelled]) > 0.5


def test_node_classifier_refuses_invalid_node_numbers(communities):
    X, _, adjacency, _ = communities
    model = NodeClassifier(GADCClassifier(adjacency, **QUICK), X)
    for error, nodes, message in [
        (TypeError, [0.0, 1.0], "node numbers .integers., got float64"),
        (ValueError, [0, 120], "from 0 to 119, got 0 to 120"),
        (ValueError, [1, 1], "each node once"),
        (ValueError, [1, 2, 3], "inconsistent numbers of samples"),
    ]:
        with pytest.raises(error, match=message):
            model.fit(nodes, [0, 1])


def test_cross_validation_that_splits_the_graph_names_node_classifier(communities):
    X, y, adjacency, _ = communities
    with pytest.raises(ValueError, match="see NodeClassifier"):
        cross_val_score(GADCClassifier(adjacency, **QUICK), X, y, error_score="raise")


@pytest.mark.parametrize("names", [np.array([0, 1]), np.array(["cat", "dog"])])
def test_a_pipeline_with_an_inductive_classifier_is_fitted_on_labelled_rows(names):
    groups, rng = np.repeat([0, 1], 30), np.random.RandomState(0)
    adjacency = np.kron(np.eye(2), np.ones((30, 30)))
    X, y = rng.randn(60, 4) + 2 * groups[:, None], names[groups]
    steps = (GADCTransformer(adjacency, num_steps=2), "passthrough", SelectKBest(k=2), LogisticRegression())
    model = NodeClassifier(make_pipeline(*steps), X)
    train = np.r_[0:5, 30:35]
    model.fit(train, y[train])
    assert model.classes_.tolist() == names.tolist()
    rest = np.setdiff1d(np.arange(60), train)
    assert model.score(rest, y[rest]) > 0.9
    assert NodeClassifier(LogisticRegression(), X).fit(train, y[train]).classes_.tolist() == names.tolist()


def test_a_foreign_classifier_that_learns_minus_one_is_refused():
    class Foreign(LogisticRegression):
        __module__ = "elsewhere"

    with pytest.raises(ValueError, match="must read -1 as unlabelled, got Foreign"):
        NodeClassifier(Foreign(), np.eye(6)).fit([0, 1, 2, 3], [0, 1, 0, 1])


def test_a_regressor_is_refused():
    with pytest.raises(TypeError, match="GADCRegressor cross-validates itself"):
        NodeClassifier(GADCRegressor(), np.eye(4)).fit(np.arange(3), [0.5, 1.0, 2.0])
