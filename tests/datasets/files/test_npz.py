"""NumPy archives: round trips, forms of others, and archives that are refused."""

import numpy as np
import pytest
import torch
from scipy import sparse

from gadc._base.memory import MemoryLimitError
from gadc.datasets import TableError, read_graph, write_npz
from tests.helpers.tables import assert_same_graph, named_graph


@pytest.mark.parametrize("weighted", [True, False])
def test_npz_round_trip(tmp_path, weighted):
    data = named_graph(weighted=weighted)
    data.train_mask = torch.tensor([True, False, True, False])
    write_npz(data, tmp_path / "g.npz")
    back = read_graph(tmp_path / "g.npz")
    assert_same_graph(back, data)
    assert torch.equal(back.train_mask, data.train_mask)
    assert (back.table_report.edges, back.table_report.labelled) == (2, 3)


def test_npz_round_trip_of_sparse_features(tmp_path):
    data = named_graph()
    data.x = torch.zeros(4, 20).index_put((torch.tensor([0, 2]), torch.tensor([3, 7])), torch.tensor(1.5))
    dense, data.feature_names = data.x, [f"f{i}" for i in range(20)]
    data.x = dense.to_sparse_csr()
    write_npz(data, tmp_path / "g.npz")
    back = read_graph(tmp_path / "g.npz", sparse_features=True)
    assert (back.x.layout, back.x.dtype) == (torch.sparse_csr, torch.float32)
    assert torch.equal(back.x.to_dense(), dense)
    plain = read_graph(tmp_path / "g.npz")
    assert torch.equal(plain.x, dense)
    assert back.table_report == plain.table_report
    assert len(back.table_report.constant) == 18


def test_npz_with_dense_or_full_features_is_read_as_dense(tmp_path):
    full = sparse.csr_array(np.ones((2, 2)))
    parts = {f"attr_{part}": getattr(full, part) for part in ("data", "indices", "indptr", "shape")}
    np.savez(tmp_path / "full.npz", adj=np.eye(2), **parts)
    np.savez(tmp_path / "dense.npz", adj=np.eye(2), features=np.eye(2))
    for name in ("full.npz", "dense.npz"):
        assert read_graph(tmp_path / name, sparse_features=True).x.layout == torch.strided


def test_npz_with_an_infinite_sparse_feature_is_refused(tmp_path):
    x = sparse.csr_array(([1.0, np.inf], ([0, 1], [0, 11])), shape=(2, 20))
    parts = {f"attr_{part}": getattr(x, part) for part in ("data", "indices", "indptr", "shape")}
    np.savez(tmp_path / "g.npz", adj=np.eye(2), **parts)
    with pytest.raises(TableError, match="must be finite, got inf in row 1, column 11"):
        read_graph(tmp_path / "g.npz", sparse_features=True)


def test_npz_of_the_benchmark_form_is_made_undirected(tmp_path):
    adj = sparse.csr_matrix(np.array([[0, 1, 0], [0, 1, 1], [0, 0, 0]], dtype=float))
    attr = sparse.csr_matrix(np.array([[0, 2.0], [1, 0], [0, 0]]))
    parts = {f"{name}_{part}": getattr(m, part) for name, m in {"adj": adj, "attr": attr}.items()
             for part in ("data", "indices", "indptr", "shape")}  # fmt: skip
    names = np.array([{"pickled": 1}], dtype=object)
    np.savez(tmp_path / "g.npz", **parts, labels=np.array([0, 1, -1]), class_names=names)
    data = read_graph(tmp_path / "g.npz")
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert data.x.tolist() == [[0, 2], [1, 0], [0, 0]]
    assert data.table_report.self_loops == 1
    assert any("pickled" in note for note in data.table_report.notes)
    assert "class_names" not in data


def test_npz_of_scipy_and_dense_members_are_read(tmp_path):
    adj = np.array([[0, 3.0], [3.0, 0]])
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_matrix(adj))
    assert read_graph(tmp_path / "a.npz").edge_weight.tolist() == [3, 3]
    np.savez(tmp_path / "b.npz", adj=adj, features=np.eye(2), labels=np.array(["u", "t"]))
    data = read_graph(tmp_path / "b.npz")
    assert (data.class_names, data.y.tolist(), data.x.tolist()) == (["t", "u"], [1, 0], [[1, 0], [0, 1]])


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"x": np.eye(2)}, "no adjacency; its members are"),
        ({"adj": np.ones((2, 3))}, "square matrix"),
        ({"adj": -np.eye(2)[::-1]}, "weights must be"),
        ({"adj": np.eye(2), "features": np.ones((3, 1))}, "'x': must have 2 entries, got 3"),
        ({"adj": np.eye(2), "features": np.full((2, 1), np.nan)}, "must be finite, got nan in row 0"),
        ({"adj": np.eye(2), "labels": np.array([0.5, 1])}, "whole numbers"),
        ({"adj": np.eye(2), "labels": np.zeros((2, 2))}, "one class per node"),
        ({"adj": np.eye(2), "labels": np.array([0, 1]), "class_names": np.array(["a"])}, "got 1 names"),
        ({"adj_data": np.ones(1), "adj_indices": np.array([9])}, "'adj_indptr': the member is missing"),
        ({"adj_data": np.ones(1), "adj_indices": np.array([9]), "adj_indptr": np.array([0, 1, 1]),
          "adj_shape": np.array([2, 2])}, "cannot be read"),
    ],
)  # fmt: skip
def test_bad_npz_is_refused_with_the_reason(tmp_path, members, message):
    np.savez(tmp_path / "g.npz", **members)
    with pytest.raises(TableError, match=message):
        read_graph(tmp_path / "g.npz")


@pytest.mark.parametrize("large", [10**9, 10**18])
def test_class_numbers_with_large_gaps_are_numbered_again(tmp_path, large):
    np.savez(tmp_path / "g.npz", adj=np.ones((3, 3)), labels=np.array([0, large, -1]))
    data = read_graph(tmp_path / "g.npz")
    assert data.y.tolist() == [0, 1, -1]
    assert data.class_names == [0, large]


def test_an_archive_that_unpacks_beyond_memory_is_refused(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "g.npz", adj=np.zeros((2000, 2000)))
    monkeypatch.setenv("GADC_MAX_MEMORY", "10MB")
    with pytest.raises(MemoryLimitError, match=r"the unpacked archive needs about 32.0 MB, and 10.0 MB are"):
        read_graph(tmp_path / "g.npz")


def test_nodes_and_features_beyond_memory_are_refused(tmp_path):
    empty = np.zeros(0, dtype=np.int64)
    coo = {"format": np.array(b"coo"), "row": empty, "col": empty, "data": np.zeros(0)}
    np.savez(tmp_path / "g.npz", shape=np.array([10**15, 10**15]), **coo)
    with pytest.raises(MemoryLimitError, match="a graph of 1,000,000,000,000,000 nodes needs about"):
        read_graph(tmp_path / "g.npz")
    csr = {"attr_data": np.zeros(0), "attr_indices": empty, "attr_indptr": np.zeros(4, dtype=np.int64)}
    np.savez(tmp_path / "g.npz", adj=np.ones((3, 3)), attr_shape=np.array([3, 10**13]), **csr)
    with pytest.raises(MemoryLimitError, match="x of 3 nodes and 10,000,000,000,000 features needs about"):
        read_graph(tmp_path / "g.npz")
