"""Readers on files made here; the real ones are in test_named.py."""

import io
import json
import sys
import types

import numpy as np
import pytest
import scipy.io
from scipy import sparse

from gadc.datasets.named._readers import facebook, geom_gcn, npz, ogb, planetoid
from gadc.datasets.named._sources import Sources
from tests.helpers.fakes import tiny_planetoid


def saved(**arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def saved_csr(adj, x=None, **arrays) -> bytes:
    for prefix, matrix in (("adj", adj), ("attr", x)):
        if matrix is not None:
            csr = sparse.csr_array(matrix)
            arrays |= {f"{prefix}_{part}": getattr(csr, part) for part in ("data", "indices", "indptr")}
            arrays[f"{prefix}_shape"] = np.array(csr.shape)
    return saved(**arrays)


def test_planetoid_puts_test_rows_in_their_place():
    graph = planetoid.read(*tiny_planetoid().values())
    assert graph.y.tolist() == [0, 1, 0, 1, 0, -1, 1]
    expected = np.arange(14, dtype=np.float32).reshape(7, 2)
    expected[5] = 0  # not in the test list: no features
    assert (graph.x.toarray() == expected).all()
    assert graph.splits["public"].tolist() == [[1, 1, 2, 2, 3, 0, 3]]
    assert graph.edge_index.tolist() == [
        [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6],
        [1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5],
    ]


EDGES = b"node_id\tnode_id\n0\t2\n2\t0\n1\t1\n0\t2\n"


def test_geom_gcn_sorts_nodes_by_number():
    nodes = b"node_id\tfeature\tlabel\n2\t0,0,1\t0\n0\t1,0,0\t1\n1\t0,1,0\t2\n"
    graph = geom_gcn.read(EDGES, nodes)
    assert graph.y.tolist() == [1, 2, 0]
    assert (graph.x.toarray() == np.eye(3)).all()
    assert graph.edges.tolist() == [[0, 2, 1, 0], [2, 0, 1, 2]]
    assert graph.edge_index.tolist() == [[0, 2], [2, 0]]


def test_actor_lists_feature_numbers():
    nodes = b"node_id\tfeature(feature_amount:3)\tlabel\n1\t3,1,3\t0\n0\t0\t1\n2\t2\t1\n"
    graph = geom_gcn.read_actor(EDGES, nodes)
    assert graph.x.toarray().tolist() == [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]]


def test_geom_gcn_refuses_gaps():
    with pytest.raises(ValueError, match=r"must be 0\.\.1"):
        geom_gcn.read(EDGES, b"node_id\tfeature\tlabel\n2\t0\t0\n0\t1\t1\n")


def test_csr_form_never_opens_pickled_members():
    adj = np.array([[0, 1], [0, 0]])
    names = np.array([{"any": "object"}], dtype=object)
    graph = npz.read_csr(saved_csr(adj, np.eye(2), labels=np.array([0, 1], dtype=np.int8), class_names=names))
    assert graph.edges.tolist() == [[0], [1]]
    assert (graph.x.dtype, graph.y.dtype) == (np.float32, np.int64)
    with pytest.raises(ValueError, match="allow_pickle"):
        npz.read_csr(saved_csr(adj, np.eye(2), labels=names))


def test_largest_component_keeps_the_order_of_the_nodes():
    adj = np.zeros((6, 6))
    adj[0, 4] = adj[5, 0] = adj[1, 2] = 1  # {0, 4, 5}, {1, 2}, {3}; listed in one direction only
    x = np.arange(12).reshape(6, 2)
    graph = npz.read_largest_component(saved_csr(adj, x, labels=np.arange(6)))
    assert graph.y.tolist() == [0, 4, 5]
    assert (graph.x.toarray() == x[[0, 4, 5]]).all()
    assert graph.edge_index.tolist() == [[0, 0, 1, 2], [1, 2, 0, 0]]
    assert (npz.read_largest_component(saved_csr(adj, labels=np.arange(6))).x.toarray() == np.eye(3)).all()


def test_heterophilous_form():
    masks = np.array([[True, False, False], [False, True, False]])
    content = saved(
        edges=np.array([[0, 1], [1, 2]]),
        node_labels=np.array([0, 1, 1]),
        node_features=np.ones((3, 2)),
        train_masks=masks,
        val_masks=masks[:, [1, 2, 0]],
        test_masks=masks[:, [2, 0, 1]],
    )
    graph = npz.read_heterophilous(content)
    assert graph.splits["published"].tolist() == [[1, 3, 2], [2, 1, 3]]
    assert graph.edge_index.shape == (2, 4)


def test_facebook_task_is_gender_from_the_rest():
    table = np.array([[1, 2, 0, 0, 0, 2004, 7], [2, 0, 0, 0, 0, 2005, 8], [1, 1, 0, 0, 0, 2004, 9]])
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, {"A": sparse.csc_matrix(np.eye(3)[[1, 0, 2]]), "local_info": table.astype("u2")})
    graph = facebook.read(buffer.getvalue())
    assert graph.y.tolist() == [1, -1, 0]
    assert graph.x.shape == (3, 2 + 1 + 1 + 1 + 2 + 3)
    assert (graph.x.sum(axis=1) == 6).all()


def test_arxiv_has_no_features():
    buffer = io.BytesIO()
    sparse.save_npz(buffer, sparse.csr_matrix(np.eye(3, k=1, dtype=bool)))
    role = {"tr": [2], "va": [0], "te": [1]}
    graph = ogb.read_arxiv(
        buffer.getvalue(), json.dumps({"0": 4, "2": 6, "1": 5}).encode(), json.dumps(role).encode()
    )
    assert graph.x is None
    assert graph.y.tolist() == [4, 5, 6]
    assert graph.splits["official"].tolist() == [[2, 3, 1]]


def test_products_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ogb", None)
    with pytest.raises(ImportError, match=r'pip install "gadc\[ogb\]"'):
        ogb.read_products(Sources(root=tmp_path))


def test_products_comes_through_the_package(monkeypatch, tmp_path):
    class Dataset:
        def __init__(self, name, root):
            assert (name, root) == ("ogbn-products", str(tmp_path / "ogb"))

        def __getitem__(self, i):
            graph = {"edge_index": np.array([[0], [1]]), "node_feat": np.ones((2, 3), dtype=np.float32)}
            return graph, np.array([[1], [0]])

        def get_idx_split(self):
            return {"train": np.array([0]), "valid": np.array([1]), "test": np.array([], dtype=int)}

    (tmp_path / "ogb").mkdir()
    package = types.ModuleType("ogb.nodeproppred")
    package.NodePropPredDataset = Dataset
    monkeypatch.setitem(sys.modules, "ogb", types.ModuleType("ogb"))
    monkeypatch.setitem(sys.modules, "ogb.nodeproppred", package)
    graph = ogb.read_products(Sources(root=tmp_path))
    assert graph.y.tolist() == [1, 0]
    assert graph.splits["official"].tolist() == [[1, 2]]
