"""Graphs of other libraries as the graph of an estimator."""

import igraph
import networkx as nx
import numpy as np
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data

from gadc.estimators import GADCClassifier, GADCTransformer

A = np.array([[0, 2, 0, 0], [2, 0, 1, 0], [0, 1, 0, 3], [0, 0, 3, 0]], dtype=float)
X = np.array([[1.0, 0], [0, 1], [1, 1], [2, 0]])
ENDS = np.array([[0, 1, 2], [1, 2, 3]])
WEIGHTS = np.array([2.0, 1.0, 3.0])


def _networkx(names):
    graph = nx.Graph()
    graph.add_nodes_from(names)
    order = sorted(range(4), key=lambda i: names[i]) if all(isinstance(n, int) for n in names) else range(4)
    at = [names[i] for i in order]
    graph.add_weighted_edges_from([(at[u], at[v], w) for (u, v), w in zip(ENDS.T, WEIGHTS, strict=True)])
    return graph


FORMS = {
    "networkx": _networkx(["a", "b", "c", "d"]),
    "networkx numbers in another order": _networkx([3, 0, 2, 1]),
    "networkx both ways": nx.from_numpy_array(A, create_using=nx.DiGraph),
    "igraph": igraph.Graph(n=4, edges=ENDS.T.tolist(), edge_attrs={"weight": WEIGHTS.tolist()}),
    "Data": Data(edge_index=torch.from_numpy(ENDS), edge_weight=torch.from_numpy(WEIGHTS), num_nodes=4),
    "edge index and weights": (ENDS, WEIGHTS),
    "SciPy": sparse.csr_matrix(A),
    "torch": torch.from_numpy(A),
    "sparse torch": torch.from_numpy(A).to_sparse_csr(),
}


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_graph_gives_the_same_features(form):
    expected = GADCTransformer(A, num_steps=3).fit_transform(X)
    np.testing.assert_allclose(
        GADCTransformer(FORMS[form], num_steps=3).fit_transform(X), expected, rtol=1e-6
    )


def test_an_edge_index_without_weights_is_an_unweighted_graph():
    expected = GADCTransformer((A > 0).astype(float), num_steps=3).fit_transform(X)
    for ends in (ENDS, torch.from_numpy(ENDS), nx.Graph(ENDS.T.tolist()), igraph.Graph(ENDS.T.tolist())):
        np.testing.assert_allclose(GADCTransformer(ends, num_steps=3).fit_transform(X), expected, rtol=1e-6)


def test_two_rows_and_columns_are_a_matrix():
    whole = np.array([[0, 1], [1, 0]])
    expected = GADCTransformer(whole.astype(float), num_steps=2).fit_transform(X[:2])
    np.testing.assert_allclose(GADCTransformer(whole, num_steps=2).fit_transform(X[:2]), expected)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.path_graph(3), "one node per row of X, 4, got 3 nodes"),
        (igraph.Graph(n=5), "one node per row of X, 4, got 5 nodes"),
        (np.array([[0, 9], [1, 2]]), "node numbers from 0 to 3, one node per row of X, got 0 to 9"),
        ((ENDS, WEIGHTS[:2]), "one weight per edge, got 2 weights of 3 edges"),
        (Data(num_nodes=4), "must have an edge_index"),
        (np.ones(4), "must be a square matrix .*NetworkX or igraph.* got shape"),
        (nx.Graph([(0, 1, {"weight": -1}), (2, 3)]), "finite weights >= 0 .*got -1"),
    ],
)
def test_a_graph_that_does_not_fit_is_refused(graph, message):
    with pytest.raises(ValueError, match=message):
        GADCTransformer(graph).fit(X)


def test_a_classifier_fits_and_predicts_on_networkx_graphs(tmp_path):
    graph = nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(4))
    X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 4, axis=0)
    y = ["cat", None, None, None, "dog", None, None, None]
    model = GADCClassifier(graph, variant="II", num_steps=2, random_state=0).fit(X, y)
    assert model.predict(X, nx.empty_graph(8)).tolist() == ["cat"] * 4 + ["dog"] * 4
    model.save(tmp_path / "model")
    assert GADCClassifier.load(tmp_path / "model").predict(X).tolist() == ["cat"] * 4 + ["dog"] * 4
