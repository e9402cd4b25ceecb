"""`GADCTransformer`: its output is `gadc.diffuse` on any kind of input."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import gadc
from gadc._base import persistence
from gadc.diffusion import VARIANTS, normalize_rows
from gadc.estimators import GADCClassifier, GADCTransformer
from tests.helpers.estimators import QUICK, adjacency_of
from tests.helpers.graphs import random_graph


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_transformer_equals_diffuse(variant, weighted):
    graph = random_graph(12, 20, 4, weighted=weighted)
    settings = {"variant": variant, "lam": 0.3, "num_steps": 5, "eps": 0.5}
    expected = gadc.diffuse(*graph.args, **settings).numpy()
    matrix = adjacency_of(graph)
    for adjacency in (matrix, matrix.toarray(), sparse.csc_matrix(matrix)):
        out = GADCTransformer(adjacency, **settings).fit_transform(graph.x.numpy())
        np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_transformer_passes_its_settings_to_the_diffusion():
    graph = random_graph(12, 20, 4)
    x = normalize_rows(graph.x, "l2")
    expected = gadc.diffuse(
        x, graph.edge_index, variant="I", lam=0.3, num_steps=4, eps=0.2, self_loops=0.5, directed=True
    )
    transformer = GADCTransformer(
        variant="I", lam=0.3, num_steps=4, eps=0.2, normalize="l2", self_loops=0.5, directed=True
    )
    out = transformer.fit_transform(graph.x.numpy(), adjacency=adjacency_of(graph))
    np.testing.assert_allclose(out, expected.numpy(), rtol=1e-12)
    x, settings = graph.x.numpy(), {"lam": 8.0, "num_steps": 64}
    quick = GADCTransformer(adjacency_of(graph), rtol=1e-3, **settings).fit_transform(x)
    exact = GADCTransformer(adjacency_of(graph), **settings).fit_transform(x)
    assert 0 < np.linalg.norm(quick - exact) <= 1e-3 * np.linalg.norm(exact)


def test_transformer_has_the_analytic_limits():
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


def test_transformer_reads_other_graphs_and_refuses_other_rows(communities):
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
    # The graph of fit takes precedence over the graph of the constructor.
    assert GADCTransformer(np.eye(3)).fit(X[:30], adjacency=few).graph_.num_nodes == 30


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
def test_transformer_returns_sparse_output_for_sparse_input(communities, container):
    X, _, adjacency, _ = communities
    X = X * (X > 0)
    out = GADCTransformer(adjacency).fit_transform(container(X))
    assert sparse.issparse(out)
    assert isinstance(out, sparse.sparray) == issubclass(container, sparse.sparray)
    np.testing.assert_allclose(out.toarray(), GADCTransformer(adjacency).fit_transform(X), rtol=1e-10)
    assert GADCTransformer(adjacency).fit_transform(X.astype(np.float32)).dtype == np.float32


def test_data_frames_keep_their_column_names(communities):
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


def test_inputs_are_not_changed(communities):
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
    (ValueError, np.ones(6), r"adjacency must be a square matrix .*got shape \(6,\)"),
    (ValueError, np.ones((2, 6)), r"adjacency must have shape \(6, 6\), .* got \(2, 6\).*see NodeClassifier"),
    (ValueError, -np.eye(6)[::-1], r"adjacency must hold finite weights >= 0 .*got -1"),
    (ValueError, np.full((6, 6), np.nan), r"adjacency must hold finite weights >= 0 .*got nan"),
    (TypeError, np.full((6, 6), "a"), r"adjacency must hold numbers, got <U1"),
]


@pytest.mark.parametrize(("error", "adjacency", "message"), BAD_GRAPHS)
def test_an_invalid_graph_is_refused(error, adjacency, message):
    X = np.arange(12.0).reshape(6, 2)
    for call in (
        lambda: GADCTransformer(adjacency).fit(X),
        lambda: GADCTransformer().fit(X).transform(X, adjacency=adjacency),
        lambda: GADCClassifier(**QUICK).fit(X, [0, 1] * 3, adjacency=adjacency),
    ):
        with pytest.raises(error, match=message):
            call()


def test_metadata_routing_passes_the_graph(communities):
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


def test_transformer_works_before_another_classifier(communities):
    X, y, adjacency, truth = communities
    known = y >= 0
    features = make_pipeline(
        StandardScaler(), GADCTransformer(adjacency), FunctionTransformer()
    ).fit_transform(X)
    assert LogisticRegression().fit(features[known], y[known]).score(features, truth) > 0.9


@pytest.mark.parametrize("num_steps", [8, None])
def test_transform_with_an_executor_gives_the_same_features(num_steps):
    rng = np.random.default_rng(0)
    features, graph = rng.random((30, 5)), rng.random((30, 30)) < 0.2
    settings = {"eps": 0.1, "num_steps": num_steps, "rtol": None if num_steps else 1e-8}
    model = GADCTransformer(graph, variant="III", lam=2.0, normalize="l1", **settings).fit(features)
    with ThreadPoolExecutor(2) as executor:
        found = model.transform(features, executor=executor)
    np.testing.assert_allclose(found, model.transform(features), rtol=1e-6)


def test_transformer_without_a_number_of_steps_sums_the_whole_series():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    X = np.array([[1.0], [0.0], [1.0]])
    whole = GADCTransformer(path, variant="plain", lam=1.0, num_steps=None, rtol=1e-10).fit_transform(X)
    many = GADCTransformer(path, variant="plain", lam=1.0, num_steps=100).fit_transform(X)
    np.testing.assert_allclose(whole, many, rtol=1e-9)


def test_a_loaded_transformer_transforms_as_before(tmp_path):
    graph = random_graph(12, 20, 4)
    path, X = tmp_path / "model.gadc", graph.x.numpy()
    for given in (adjacency_of(graph), None):
        model = GADCTransformer(given, variant="IV", lam=2.0, num_steps=3, directed=given is not None).fit(X)
        model.save(path)
        loaded = GADCTransformer.load(path)
        np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
        np.testing.assert_array_equal(loaded.fit_transform(X), model.transform(X))
        before, after = model.get_params(), loaded.get_params()
        assert (before.pop("adjacency") is None) == (after.pop("adjacency") is None)
        assert before == after


@pytest.mark.parametrize(
    ("name", "value"), [("num_steps", 10**12), ("eps", -1.0), ("directed", "no"), ("variant", "auto")]
)
def test_a_stored_transformer_is_checked_as_in_the_constructor(tmp_path, name, value):
    graph = random_graph(12, 20, 4)
    path = tmp_path / "model.gadc"
    GADCTransformer(adjacency_of(graph)).fit(graph.x.numpy()).save(path)
    settings, arrays = persistence.read(path, "GADCTransformer")
    settings["params"][name] = value
    persistence.write(path, "GADCTransformer", settings, arrays)
    with pytest.raises(ValueError, match="does not hold a valid model"):
        GADCTransformer.load(path)
    with pytest.raises(ValueError, match="must hold a GADCClassifier"):
        GADCClassifier.load(path)
