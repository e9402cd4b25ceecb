"""scikit-learn estimators: the common checks, the mathematics behind them, and what graphs add."""

import warnings

import numpy as np
import polars as pl
import pytest
import sklearn
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.utils.estimator_checks import parametrize_with_checks

import gadc
from gadc.diffusion import VARIANTS, normalize_rows
from gadc.estimators import GADCClassifier, GADCTransformer, NodeClassifier
from gadc.estimators._labels import validation_split
from tests.helpers.graphs import random_graph

FEW = {"epochs": 30, "lr": 0.1, "random_state": 0}
QUICK = {"variant": "II", **FEW}


def _expected_failures(estimator):
    if not isinstance(estimator, GADCClassifier):
        return {}
    return {
        "check_classifiers_classes": "uses the label -1, which means unlabelled here as in LabelPropagation",
        "check_methods_subset_invariance": "asks for 1e-7, but the head works in single precision",
    }


@parametrize_with_checks(
    [
        GADCTransformer(),
        GADCTransformer(variant="IV", normalize="l2"),
        GADCClassifier(**FEW),
        GADCClassifier(**QUICK),
        GADCClassifier(head="mlp", hidden=16, normalize="l2", **QUICK),
    ],
    expected_failed_checks=_expected_failures,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def communities():
    """Two groups that noisy features tell apart badly and the graph well; a tenth of the labels known."""
    rng = np.random.RandomState(0)
    truth = np.arange(120) % 2
    chance = np.where(truth[:, None] == truth[None, :], 0.15, 0.01)
    upper = np.triu(rng.rand(120, 120) < chance, 1)
    adjacency = sparse.csr_array((upper + upper.T).astype(float))
    X = rng.randn(120, 5) + 0.4 * truth[:, None]
    y = np.full(120, -1)
    y[:24] = truth[:24]
    return X, y, adjacency, truth


def _matrix(graph):
    """A non-symmetric sparse matrix that lists each edge once."""
    n, (rows, cols) = len(graph.x), graph.edge_index.numpy()
    weight = np.ones(len(rows)) if graph.edge_weight is None else graph.edge_weight.numpy()
    return sparse.coo_array((weight, (rows, cols)), shape=(n, n))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_transformer_is_diffuse(variant, weighted):
    graph = random_graph(12, 20, 4, weighted=weighted)
    settings = {"variant": variant, "lam": 0.3, "num_steps": 5, "eps": 0.5}
    expected = gadc.diffuse(*graph.args, **settings).numpy()
    for adjacency in (_matrix(graph), _matrix(graph).toarray(), sparse.csc_matrix(_matrix(graph))):
        out = GADCTransformer(adjacency, **settings).fit_transform(graph.x.numpy())
        np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_transformer_settings_reach_the_diffusion():
    graph = random_graph(12, 20, 4)
    x = normalize_rows(graph.x, "l2")
    expected = gadc.diffuse(
        x, graph.edge_index, variant="I", lam=0.3, num_steps=4, eps=0.2, self_loops=0.5, directed=True
    )
    transformer = GADCTransformer(
        variant="I", lam=0.3, num_steps=4, eps=0.2, normalize="l2", self_loops=0.5, directed=True
    )
    out = transformer.fit_transform(graph.x.numpy(), adjacency=_matrix(graph))
    np.testing.assert_allclose(out, expected.numpy(), rtol=1e-12)
    quick = GADCTransformer(_matrix(graph), lam=8.0, num_steps=64, rtol=1e-3).fit_transform(graph.x.numpy())
    exact = GADCTransformer(_matrix(graph), lam=8.0, num_steps=64).fit_transform(graph.x.numpy())
    assert 0 < np.linalg.norm(quick - exact) <= 1e-3 * np.linalg.norm(exact)


def test_analytic_limits():
    x = np.random.RandomState(0).randn(6, 3)
    empty, ring = np.zeros((6, 6)), np.roll(np.eye(6), 1, axis=1)
    for no_diffusion in (GADCTransformer(), GADCTransformer(ring, lam=0.0)):
        out = no_diffusion.fit_transform(x)
        np.testing.assert_array_equal(out, x)
        assert not np.shares_memory(out, x)
    # Isolated nodes: T = I, so the series is a scalar.
    share = 1 - (32 / 33) ** 17
    np.testing.assert_allclose(GADCTransformer(empty, variant="plain").fit_transform(x), share * x)
    np.testing.assert_allclose(GADCTransformer(empty, variant="IV").fit_transform(x), x / 33)
    # On a ring of equal degrees a long, strong diffusion ends at the mean.
    out = GADCTransformer(ring, variant="plain", lam=1e6, num_steps=10**4).fit_transform(x)
    np.testing.assert_allclose(out / out[0], np.ones((6, 3)), atol=0.1)


def test_other_graphs_and_rows(communities):
    X, _, adjacency, _ = communities
    transformer = GADCTransformer(adjacency).fit(X)
    few = adjacency[:30][:, :30]
    np.testing.assert_allclose(
        transformer.transform(X[:30], adjacency=few), GADCTransformer(few).fit_transform(X[:30])
    )
    with pytest.raises(
        ValueError, match=r"the graph of fit, which has 120 nodes, got 30 rows; .* pass their graph"
    ):
        transformer.transform(X[:30])
    # The graph of fit goes before the constructor's.
    assert GADCTransformer(np.eye(3)).fit(X[:30], adjacency=few).graph_.num_nodes == 30


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
def test_sparse_in_sparse_out(communities, container):
    X, _, adjacency, _ = communities
    X = X * (X > 0)
    out = GADCTransformer(adjacency).fit_transform(container(X))
    assert sparse.issparse(out)
    assert isinstance(out, sparse.sparray) == issubclass(container, sparse.sparray)
    np.testing.assert_allclose(out.toarray(), GADCTransformer(adjacency).fit_transform(X), rtol=1e-10)
    assert GADCTransformer(adjacency).fit_transform(X.astype(np.float32)).dtype == np.float32


def test_frames_keep_their_names(communities):
    X, y, adjacency, _ = communities
    frame = pl.DataFrame(X, schema=list("abcde"), orient="row")
    transformer = GADCTransformer(adjacency).set_output(transform="polars")
    out = transformer.fit_transform(frame)
    assert out.columns == list("abcde")
    np.testing.assert_allclose(out.to_numpy(), GADCTransformer(adjacency).fit_transform(X))
    assert list(transformer.get_feature_names_out()) == list("abcde")
    classifier = GADCClassifier(adjacency, **QUICK).fit(frame, y)
    assert list(classifier.feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match="feature names should match"):
        classifier.predict(frame.rename({"a": "z"}))


def test_inputs_are_left_alone(communities):
    X, y, adjacency, _ = communities
    messy = sparse.coo_array(([1.0, 1.0, 0.0], ([0, 0, 2], [1, 1, 3])), shape=adjacency.shape)
    before = X.copy(), y.copy(), messy.copy(), adjacency.copy()
    for graph in (messy, adjacency):
        GADCClassifier(graph, normalize="l1", **QUICK).fit(X, y).predict(X)
        GADCTransformer(graph, normalize="l1").fit_transform(X)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    assert messy.nnz == 3
    assert messy.data.tolist() == before[2].data.tolist()
    assert abs(adjacency - before[3]).max() == 0


BAD_GRAPHS = [
    (ValueError, np.ones(6), r"adjacency must be a square matrix, got shape \(6,\)"),
    (ValueError, np.ones((2, 6)), r"adjacency must have shape \(6, 6\), .* got \(2, 6\).*see NodeClassifier"),
    (ValueError, -np.eye(6)[::-1], r"adjacency must hold finite weights >= 0, got -1"),
    (ValueError, np.full((6, 6), np.nan), r"adjacency must hold finite weights >= 0, got nan"),
    (TypeError, np.full((6, 6), "a"), r"adjacency must hold numbers, got <U1"),
]


@pytest.mark.parametrize(("error", "adjacency", "message"), BAD_GRAPHS)
def test_bad_graphs(error, adjacency, message):
    X = np.arange(12.0).reshape(6, 2)
    for call in (
        lambda: GADCTransformer(adjacency).fit(X),
        lambda: GADCTransformer().fit(X).transform(X, adjacency=adjacency),
        lambda: GADCClassifier(**QUICK).fit(X, [0, 1] * 3, adjacency=adjacency),
    ):
        with pytest.raises(error, match=message):
            call()


BAD_SETTINGS = [
    ({"variant": "V"}, "variant must be one of 'auto', 'plain'"),
    ({"lam": -1.0}, "lam must be finite and >= 0, got -1"),
    ({"num_steps": 1.5}, "num_steps must be a whole number"),
    ({"eps": -1.0}, "eps must be finite"),
    ({"normalize": "max"}, "normalize must be one of"),
    ({"rtol": 0.0}, "rtol must be finite and > 0"),
    ({"head": "tree"}, "head must be one of 'linear', 'mlp'"),
    ({"epochs": 0}, "epochs must be a whole number >= 1"),
    ({"selection": "best"}, "selection must be one of"),
    ({"validation_fraction": 1.0}, r"validation_fraction must lie in \[0, 1\), got 1.0"),
]


@pytest.mark.parametrize(("settings", "message"), BAD_SETTINGS)
def test_bad_settings_are_refused_in_fit(settings, message):
    with pytest.raises(ValueError, match=message):
        GADCClassifier(**settings).fit(np.eye(4), [0, 1, 0, 1])


def test_classifier_on_a_graph(communities, capsys):
    X, y, adjacency, truth = communities
    hidden = y == -1
    with_graph = GADCClassifier(adjacency, "II", random_state=0, verbose=True).fit(X, y)
    assert "24 labels; II over" in capsys.readouterr().out
    without = GADCClassifier(random_state=0).fit(X, y)
    assert capsys.readouterr().out == ""
    accuracy = (with_graph.transduction_ == truth)[hidden].mean()
    assert accuracy > 0.9 > (without.transduction_ == truth)[hidden].mean()
    np.testing.assert_array_equal(with_graph.predict(X), with_graph.transduction_)
    assert with_graph.score(X, np.where(hidden, truth, -1)) == pytest.approx(accuracy)

    proba = with_graph.predict_proba(X)
    np.testing.assert_allclose(proba.sum(1), 1, atol=1e-12)
    np.testing.assert_allclose(np.log(proba), with_graph.predict_log_proba(X))
    np.testing.assert_array_equal(with_graph.decision_function(X) > 0, with_graph.predict(X) == 1)
    assert log_loss(truth[hidden], proba[hidden]) < np.log(2)


def test_reported_figures_are_those_of_the_validation_part(communities):
    X, y, adjacency, _ = communities
    model = GADCClassifier(adjacency, **QUICK).fit(X, y)
    _, validation = validation_split(y, 0.2, np.random.RandomState(0))  # the first use of random_state
    assert model.log_loss_ == pytest.approx(
        log_loss(y[validation], model.predict_proba(X)[validation]), rel=1e-4
    )
    assert model.validation_score_ == pytest.approx(model.score(X[:], np.where(validation, y, -1)))
    everything = GADCClassifier(adjacency, validation_fraction=0.0, **QUICK).fit(X, y)
    assert np.isnan(everything.log_loss_)
    assert everything.epoch_ == 29


def test_units_of_the_features_do_not_matter(communities):
    X, y, adjacency, _ = communities
    one, other = (GADCClassifier(adjacency, **QUICK).fit(X * unit, y) for unit in (1.0, 1024.0))
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X * 1024), rtol=1e-4)


def test_new_graphs(communities):
    X, y, adjacency, truth = communities
    model = GADCClassifier(adjacency, "II", random_state=0).fit(X, y)
    order = np.random.RandomState(1).permutation(120)[:100]
    small = adjacency[order][:, order]
    assert model.score(X[order], truth[order], adjacency=small) > 0.9
    assert (model.predict(X[order], adjacency=small) == truth[order]).mean() > 0.9
    with pytest.raises(ValueError, match="the graph of fit, which has 120 nodes"):
        model.predict(X[order])
    # The whole graph in another order is the same graph.
    order = np.random.RandomState(1).permutation(120)
    np.testing.assert_allclose(
        model.predict_proba(X[order], adjacency=adjacency[order][:, order]),
        model.predict_proba(X)[order],
        rtol=1e-4,
    )


def test_auto_says_what_it_picked(communities, tmp_path, capsys):
    X, y, adjacency, truth = communities
    model = GADCClassifier(adjacency, verbose=True, **FEW).fit(X, y)
    assert model.variant == "auto"
    assert model.explain_.startswith("Picked ")
    told = capsys.readouterr().out
    assert model.explain_ in told
    assert told.index("trying plain diffusion") < told.index("comparing") < told.index("training")
    assert model.report_["facts"]["homophily"] > 0.8
    assert {row["family"] for row in model.report_["candidates"]} >= {"none", "plain", "I", "II", "III", "IV"}
    assert (model.transduction_ == truth)[y == -1].mean() > 0.85
    np.testing.assert_array_equal(model.predict(X), model.transduction_)

    model.save(tmp_path / "model")
    again = GADCClassifier.load(tmp_path / "model")
    assert (again.candidate_, again.explain_, again.report_) == (
        model.candidate_,
        model.explain_,
        model.report_,
    )
    small = adjacency[:40][:, :40]
    for graph in ({}, {"adjacency": small}):
        rows = X if not graph else X[:40]
        np.testing.assert_array_equal(again.predict_proba(rows, **graph), model.predict_proba(rows, **graph))


def test_auto_with_useless_features_spreads_the_labels(communities, tmp_path):
    _, y, adjacency, truth = communities
    X = np.ones((120, 2))
    model = GADCClassifier(adjacency, **FEW).fit(X, y)
    assert "label propagation" in model.explain_
    assert (model.transduction_ == truth)[y == -1].mean() > 0.85
    np.testing.assert_array_equal(model.predict(X), model.transduction_)
    np.testing.assert_allclose(model.predict_proba(X).sum(1), 1)
    model.save(tmp_path / "model")
    again = GADCClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    # It speaks about the nodes of its graph; other graphs get a candidate that reads features.
    assert again.predict(X[:7], adjacency=np.ones((7, 7))).shape == (7,)
    with pytest.raises(ValueError, match="the graph of fit, which has 120 nodes"):
        again.predict(X[:7])


def test_one_variant_compares_nothing(communities):
    X, y, adjacency, _ = communities
    model = GADCClassifier(adjacency, **QUICK).fit(X, y)
    assert model.explain_ == "Variant II was requested; nothing was compared."
    assert model.report_ == {}
    with pytest.raises(ValueError, match="variant must be one of 'plain'"):
        GADCTransformer(adjacency, variant="auto").fit(X)


@pytest.mark.parametrize("hidden", [-1, None, np.nan])
@pytest.mark.parametrize("as_list", [False, True])
def test_words_as_labels(communities, hidden, as_list):
    X, y, adjacency, _ = communities
    expected = GADCClassifier(adjacency, **QUICK).fit(X, y)
    names = {0: "cat", 1: "dog", -1: hidden}
    words = [names[label] for label in y.tolist()]
    model = GADCClassifier(adjacency, **QUICK).fit(X, words if as_list else np.array(words, dtype=object))
    assert model.classes_.tolist() == ["cat", "dog"]
    assert model.transduction_.tolist() == [names[k] for k in expected.transduction_]
    assert model.score(X, words) == expected.score(X, y)


def test_minus_one_beside_words_in_a_numpy_array(communities):
    X, y, adjacency, _ = communities
    words = np.array(["cat" if label else "dog" for label in y], dtype="<U3")
    words[y == -1] = -1
    assert GADCClassifier(adjacency, **QUICK).fit(X, words).classes_.tolist() == ["cat", "dog"]


def test_bad_labels():
    X = np.eye(4)
    for y, message in [
        ([-1] * 4, "y must label at least one node, got 4 unlabelled nodes"),
        (["a", 1, "b", 2], "y must be all text or all numbers, got both"),
        ([0.5, 0.2, 0.3, 0.1], "Unknown label type"),
        ([0, 1], "inconsistent numbers of samples"),
        ([0, 1, np.inf, 0], "infinity"),
    ]:
        with pytest.raises(ValueError, match=message):
            GADCClassifier(**QUICK).fit(X, y)


@given(
    st.lists(st.integers(-1, 3), min_size=1, max_size=40).filter(lambda codes: max(codes) >= 0),
    st.floats(0, 0.99),
    st.integers(0, 9),
)
def test_validation_split_is_a_split(labels, fraction, seed):
    codes = np.unique([-1, *labels], return_inverse=True)[1][1:].astype(np.int64) - 1  # no gaps
    train, validation = validation_split(codes, fraction, np.random.RandomState(seed))
    np.testing.assert_array_equal(train.astype(int) + validation, codes >= 0)
    assert set(codes[train]) == set(codes[codes >= 0])
    for code in set(codes[codes >= 0]):
        size = (codes == code).sum()
        assert validation[codes == code].sum() == min(round(fraction * size), size - 1)


def test_cross_validation_over_nodes(communities):
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
    """Keeps what it is fitted with."""

    def fit(self, X, y):
        self.seen_, self.classes_ = y, set(y)
        return self


def test_a_fold_sees_its_own_labels_only():
    model = NodeClassifier(_Recorder(), np.eye(5)).fit([4, 1], [7, 8])
    assert model.estimator_.seen_.tolist() == [-1, 8, -1, -1, 7]
    words = NodeClassifier(_Recorder(), np.eye(3)).fit([2], np.array(["a"]))
    assert words.estimator_.seen_.tolist() == [-1, -1, "a"]


def test_hidden_labels_are_hidden(communities):
    """A node's own label in a fold it is scored in would be a leak: random labels must score at chance."""
    X, _, adjacency, _ = communities
    noise = np.random.RandomState(0).randint(0, 2, 120)
    strong = GADCClassifier(adjacency, "II", lam=0.01, num_steps=1, head="mlp", epochs=100, random_state=0)
    seen = strong.set_params(validation_fraction=0.0, hidden=512).fit(X, noise).score(X, noise)
    scores = cross_val_score(NodeClassifier(strong, X), np.arange(120), noise, cv=5)
    assert scores.mean() < 0.6 < seen


@pytest.mark.parametrize(
    "labels", [np.array(["a", "b"]), np.array([False, True]), np.array([0, 1], dtype=np.uint8)]
)
def test_node_classifier_takes_any_labels(communities, labels):
    X, y, adjacency, _ = communities
    labelled = np.flatnonzero(y >= 0)
    model = NodeClassifier(GADCClassifier(adjacency, **QUICK), X).fit(labelled, labels[y[labelled]])
    assert model.classes_.tolist() == labels.tolist()
    assert model.score(labelled, labels[y[labelled]]) > 0.8
    assert model.decision_function(labelled).shape == (24,)


def test_node_classifier_wraps_pipelines_and_others(communities):
    X, y, adjacency, truth = communities
    labelled = np.flatnonzero(y >= 0)
    pipeline = make_pipeline(StandardScaler(), GADCClassifier(adjacency, **QUICK))
    assert NodeClassifier(pipeline, X).fit(labelled, y[labelled]).score(np.arange(120), truth) > 0.9
    spreading = NodeClassifier(LabelSpreading(kernel="knn"), X).fit(labelled, y[labelled])
    assert not hasattr(spreading, "decision_function")
    assert spreading.score(labelled, y[labelled]) > 0.5


def test_node_classifier_bad_input(communities):
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


def test_plain_cross_validation_says_what_to_do(communities):
    X, y, adjacency, _ = communities
    with pytest.raises(ValueError, match="see NodeClassifier"):
        cross_val_score(GADCClassifier(adjacency, **QUICK), X, y, error_score="raise")


def test_metadata_routing(communities):
    X, y, adjacency, truth = communities
    expected = GADCTransformer(adjacency).fit_transform(StandardScaler().fit_transform(X))
    with sklearn.config_context(enable_metadata_routing=True):
        transformer = GADCTransformer().set_fit_request(adjacency=True).set_transform_request(adjacency=True)
        pipeline = make_pipeline(StandardScaler(), transformer)
        np.testing.assert_allclose(pipeline.fit_transform(X, adjacency=adjacency), expected)
        np.testing.assert_allclose(pipeline.transform(X, adjacency=adjacency), expected)

        last = GADCClassifier(**QUICK).set_fit_request(adjacency=True).set_predict_request(adjacency=True)
        classifier = make_pipeline(StandardScaler(), last).fit(X, y, adjacency=adjacency)
        assert (classifier.predict(X, adjacency=adjacency) == truth).mean() > 0.9


def test_transformer_before_another_classifier(communities):
    X, y, adjacency, truth = communities
    known = y >= 0
    features = make_pipeline(
        StandardScaler(), GADCTransformer(adjacency), FunctionTransformer()
    ).fit_transform(X)
    assert LogisticRegression().fit(features[known], y[known]).score(features, truth) > 0.9


def test_a_divergent_series_warns_once_in_fit():
    X, full = np.random.RandomState(0).rand(6, 2), 1 - np.eye(6)
    with pytest.warns(gadc.DivergentSeriesWarning):
        model = GADCClassifier(full, variant="IV", **FEW).fit(X, [0, 1] * 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)


def test_global_randomness_is_left_alone(communities):
    X, y, adjacency, _ = communities
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002
    GADCClassifier(adjacency, dropout=0.5, epochs=2, random_state=7).fit(X, y)
    assert torch.rand(()).item() == torch.rand((), generator=torch.Generator().manual_seed(0)).item()
    assert np.random.rand() == np.random.RandomState(0).rand()  # noqa: NPY002
