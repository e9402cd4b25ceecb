"""New nodes with a few edges to known ones get the answers of the joined graph."""

import numpy as np
import pytest
import torch
from scipy import sparse

from gadc.diffusion import VARIANTS
from gadc.estimators import GADCClassifier, GADCMultilabelClassifier, GADCRegressor
from gadc.estimators._new_nodes import join_rows
from tests.helpers.estimators import QUICK


@pytest.fixture(scope="module")
def joined(communities):
    """Known nodes, three new ones with a few edges, and the whole graph."""
    X, y, adjacency, truth = communities
    rng = np.random.RandomState(1)
    new = rng.randn(3, 5) + 0.4
    links = sparse.lil_array((3, 120))
    links[0, [1, 3, 5]] = 1.0
    links[1, [7, 8]] = 0.5  # the third has no edge to a known node
    among = np.array([[0, 0, 0], [0, 0, 2.0], [0, 0, 0]])
    whole = sparse.block_array([[adjacency, links.T], [links, among + among.T]])
    return X, y, adjacency, truth, new, links, among, np.vstack([X, new]), whole


@pytest.mark.parametrize("variant", [*VARIANTS, "auto"])
def test_classes_of_new_nodes_are_those_of_the_joined_graph(joined, variant):
    X, y, adjacency, _, new, links, among, every, whole = joined
    model = GADCClassifier(adjacency, **{**QUICK, "variant": variant, "lam": 0.4, "num_steps": 4, "eps": 0.3})
    model.fit(X, y)
    expected = model.predict_proba(every, adjacency=whole)[120:]
    found = model.predict_proba(new, among, edges_to_known=links)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert (model.predict(new, among, edges_to_known=links) == model.classes_[expected.argmax(1)]).all()
    without = model.predict_proba(new, edges_to_known=0 * links)
    assert variant == "auto" or abs(without - expected).max() > 1e-3  # the edges matter


def test_a_directed_edge_is_read_from_the_known_node(joined):
    X, y, adjacency, _, new, links, _, every, _ = joined
    model = GADCClassifier(adjacency, directed=True, num_steps=4, **QUICK).fit(X, y)
    whole = sparse.block_array([[adjacency, None], [links, sparse.csr_array((3, 3))]])
    expected = model.predict_proba(every, adjacency=whole)[120:]
    np.testing.assert_allclose(model.predict_proba(new, edges_to_known=links), expected, atol=1e-5)


def test_numbers_and_labels_of_new_nodes_are_those_of_the_joined_graph(joined):
    X, _, adjacency, truth, new, links, among, every, whole = joined
    settings = {"variant": "plain", "lam": 4.0, "num_steps": 4, "random_state": 0}
    number = GADCRegressor(adjacency, **settings).fit(X, truth + 0.1 * X[:, 0])
    several = GADCMultilabelClassifier(adjacency, **settings).fit(X, np.column_stack([truth, 1 - truth]))
    for model, answer in ((number, number.predict), (several, several.predict_proba)):
        expected = answer(every, adjacency=whole)[120:]
        np.testing.assert_allclose(answer(new, among, edges_to_known=links), expected, atol=1e-9)
        np.testing.assert_array_equal(
            model.predict(new, among, edges_to_known=links), model.predict(every, adjacency=whole)[120:]
        )


def test_a_loaded_model_needs_the_known_features(joined, tmp_path):
    X, y, adjacency, _, new, links, _, _, _ = joined
    model = GADCClassifier(adjacency, **QUICK).fit(X, y)
    model.save(tmp_path / "model.gadc")
    loaded = GADCClassifier.load(tmp_path / "model.gadc")
    with pytest.raises(ValueError, match="X_known must hold the features of fit"):
        loaded.predict(new, edges_to_known=links)
    with pytest.raises(ValueError, match="one row per node of the graph of fit"):
        loaded.predict(new, edges_to_known=links, X_known=X[:5])
    np.testing.assert_array_equal(
        loaded.predict_proba(new, edges_to_known=links, X_known=X),
        model.predict_proba(new, edges_to_known=links),
    )


def test_edges_that_cannot_be_read_are_refused(joined):
    X, y, adjacency, _, new, links, _, _, _ = joined
    model = GADCClassifier(adjacency, **QUICK).fit(X, y)
    for wrong, message in [
        (links.T, r"edges_to_known must have shape \(3, 120\), one row per new node"),
        (-links, "finite weights >= 0 .*, got -1"),
        ([1, 2, 3], "edges_to_known must be a matrix"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.predict(new, edges_to_known=wrong)
    with pytest.raises(ValueError, match="X_known requires edges_to_known"):
        model.predict(X, X_known=X)
    with pytest.raises(ValueError, match="edges_to_known requires a graph in fit"):
        GADCClassifier(**QUICK).fit(X, y).predict(new, edges_to_known=links)
    with pytest.raises(ValueError, match="5 features"):
        model.predict(new[:, :4], edges_to_known=links)


def test_sparse_rows_are_joined_without_filling_them():
    known, new = torch.eye(4).to_sparse_csr(), torch.tensor([[0.0, 2.0, 0.0, 3.0]])
    joined = join_rows(known, new)
    assert joined.layout == torch.sparse_csr
    torch.testing.assert_close(joined.to_dense(), torch.cat([torch.eye(4), new]))
