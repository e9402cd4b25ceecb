"""The ogb reader on files made here; `test_named.py` reads the published files."""

import io
import json
import sys
import types

import numpy as np
import pytest
from scipy import sparse

from gadc.datasets.named._readers import ogb
from gadc.datasets.named._sources import Sources


def test_arxiv_is_read_without_features():
    buffer = io.BytesIO()
    sparse.save_npz(buffer, sparse.csr_matrix(np.eye(3, k=1, dtype=bool)))
    role = {"tr": [2], "va": [0], "te": [1]}
    graph = ogb.read_arxiv(
        buffer.getvalue(), json.dumps({"0": 4, "2": 6, "1": 5}).encode(), json.dumps(role).encode()
    )
    assert graph.x is None
    assert graph.y.tolist() == [4, 5, 6]
    assert graph.splits["official"].tolist() == [[2, 3, 1]]


def test_products_error_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ogb", None)
    with pytest.raises(ImportError, match=r'pip install "gadc\[ogb\]"'):
        ogb.read_products(Sources(root=tmp_path))


def test_products_is_read_by_the_ogb_package(monkeypatch, tmp_path):
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
