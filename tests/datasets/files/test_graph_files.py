"""Round trips through every format, and files that are refused."""

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from torch_geometric.data import Data

from gadc.datasets import TableError, from_tables
from gadc.datasets.files._npz import write_npz
from gadc.datasets.files._read_graph import read_graph
from gadc.datasets.tables._writers import write_tables


def graph(ids=("a", "b", "c", "d"), weighted=True):
    data = Data(
        x=torch.tensor([[1.0, 0.1], [2.0, 0.2], [3.0, 1 / 3], [4.0, -1e-7]]),
        edge_index=torch.tensor([[0, 0, 1, 2], [1, 2, 0, 0]]),
        y=torch.tensor([1, -1, 0, 1]),
        num_nodes=4,
    )
    if weighted:
        data.edge_weight = torch.tensor([0.5, 2.0, 0.5, 2.0])
    data.node_ids, data.feature_names, data.class_names = list(ids), ["f", "g"], ["no", "yes"]
    return data


def assert_same(left, right):
    assert torch.equal(left.edge_index, right.edge_index)
    assert torch.equal(left.x, right.x)
    assert torch.equal(left.y, right.y)
    weights = left.get("edge_weight"), right.get("edge_weight")
    assert weights == (None, None) or torch.equal(*weights)
    for name in ("node_ids", "feature_names", "class_names"):
        assert left[name] == right[name]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".feather"])
@pytest.mark.parametrize("ids", [("a", "b", "c", "d"), (40, 30, 20, 10)])
@pytest.mark.parametrize("weighted", [True, False])
def test_tables_round_trip(tmp_path, suffix, ids, weighted):
    data = graph(ids, weighted)
    paths = tmp_path / f"edges{suffix}", tmp_path / f"nodes{suffix}"
    write_tables(data, *paths)
    back = from_tables(*paths, weight="weight" if weighted else None)
    assert_same(back, data)
    assert back.table_report.rows == back.table_report.edges == 2
    assert back.table_report.isolated == 1
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in paths}


def test_directed_tables_round_trip(tmp_path):
    data = graph()
    data.edge_weight = torch.tensor([1.0, 2.0, 3.0, 4.0])
    write_tables(data, tmp_path / "e.parquet", tmp_path / "n.parquet")
    back = from_tables(tmp_path / "e.parquet", tmp_path / "n.parquet", weight="weight", directed=True)
    assert_same(back, data)


def test_a_bare_graph_gets_plain_names(tmp_path):
    write_tables(
        Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]])),
        tmp_path / "e.csv",
        tmp_path / "n.csv",
    )
    back = from_tables(tmp_path / "e.csv", tmp_path / "n.csv")
    assert (back.node_ids, back.feature_names, back.y) == ([0, 1], ["x0"], None)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "nodes.xlsx"
    path.write_text("old")
    with pytest.raises(ValueError, match="suffix"):
        write_tables(graph(), tmp_path / "edges.csv", path)
    assert path.read_text() == "old"
    assert {p.name for p in tmp_path.iterdir()} == {"edges.csv", "nodes.xlsx"}


@pytest.mark.parametrize("weighted", [True, False])
def test_npz_round_trip(tmp_path, weighted):
    data = graph(weighted=weighted)
    data.train_mask = torch.tensor([True, False, True, False])
    write_npz(data, tmp_path / "g.npz")
    back = read_graph(tmp_path / "g.npz")
    assert_same(back, data)
    assert torch.equal(back.train_mask, data.train_mask)
    assert (back.table_report.edges, back.table_report.labelled) == (2, 3)


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


def test_saved_adjacency_and_dense_members(tmp_path):
    adj = np.array([[0, 3.0], [3.0, 0]])
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_matrix(adj))
    assert read_graph(tmp_path / "a.npz").edge_weight.tolist() == [3, 3]
    np.savez(tmp_path / "b.npz", adj=adj, features=np.eye(2), labels=np.array(["u", "t"]))
    data = read_graph(tmp_path / "b.npz")
    assert (data.class_names, data.y.tolist(), data.x.tolist()) == (["t", "u"], [1, 0], [[1, 0], [0, 1]])


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"x": np.eye(2)}, "holds no adjacency; its members are"),
        ({"adj": np.ones((2, 3))}, "square matrix"),
        ({"adj": -np.eye(2)[::-1]}, "weights must be"),
        ({"adj": np.eye(2), "features": np.ones((3, 1))}, "'x': has 3 entries instead of 2"),
        ({"adj": np.eye(2), "features": np.full((2, 1), np.nan)}, "must be finite"),
        ({"adj": np.eye(2), "labels": np.array([0.5, 1])}, "whole numbers"),
        ({"adj": np.eye(2), "labels": np.zeros((2, 2))}, "one class a node"),
        ({"adj": np.eye(2), "labels": np.array([0, 1]), "class_names": np.array(["a"])}, "has 1 entries"),
        ({"adj_data": np.ones(1), "adj_indices": np.array([9])}, "'adj_indptr': is missing"),
        ({"adj_data": np.ones(1), "adj_indices": np.array([9]), "adj_indptr": np.array([0, 1, 1]),
          "adj_shape": np.array([2, 2])}, "cannot be read"),
    ],
)  # fmt: skip
def test_bad_archives_say_why(tmp_path, members, message):
    np.savez(tmp_path / "g.npz", **members)
    with pytest.raises(TableError, match=message):
        read_graph(tmp_path / "g.npz")


def test_graphml_round_trip(tmp_path):
    data, path = graph(), tmp_path / "g.graphml"
    drawn = nx.Graph()
    for i, name in enumerate(data.node_ids):
        label = {"label": data.class_names[int(data.y[i])]} if data.y[i] >= 0 else {}
        drawn.add_node(name, f=float(data.x[i, 0]), g=float(data.x[i, 1]), id=i, **label)
    for (u, v), weight in zip(data.edge_index.t().tolist(), data.edge_weight.tolist(), strict=True):
        drawn.add_edge(data.node_ids[u], data.node_ids[v], weight=weight)
    nx.write_graphml(drawn, path)
    back = read_graph(path, weight="weight", features=["f", "g"])
    assert_same(back, data)
    assert str(path) in back.table_report.nodes_file
    with pytest.raises(TableError, match="column 'size': no such column"):
        read_graph(path, features=["size"])


def test_edge_lists(tmp_path):
    path = tmp_path / "g.edgelist"
    path.write_text("# people\n1 2 0.5\n\n2 3 1.5  # late\n2 1 0.5\n")
    data = read_graph(path)
    assert data.node_ids == [1, 2, 3]
    assert data.edge_weight.tolist() == [0.5, 0.5, 1.5, 1.5]
    assert (data.table_report.rows, data.table_report.duplicates) == (3, 1)
    nx.write_edgelist(nx.path_graph(4), path)
    assert read_graph(path).num_edges == 6
    path.write_text("1 2\n1 3 0.5\n")
    with pytest.raises(TableError, match="row 2: has 3 fields instead of 2 as before"):
        read_graph(path)
    path.write_text("1\n")
    with pytest.raises(TableError, match="row 1: has 1 fields instead of two or three"):
        read_graph(path)
    path.write_text("1 2 heavy\n")
    with pytest.raises(TableError, match="cannot be read"):
        read_graph(path)


def test_a_saved_data_comes_back_with_its_report(tmp_path):
    write_tables(graph(), tmp_path / "e.csv", tmp_path / "n.csv")
    data = from_tables(tmp_path / "e.csv", tmp_path / "n.csv", weight="weight")
    torch.save(data, tmp_path / "g.pt")
    back = read_graph(tmp_path / "g.pt")
    assert_same(back, data)
    assert back.table_report == data.table_report


def test_a_malicious_file_is_not_executed(tmp_path):
    class Evil:
        def __reduce__(self):
            return (tmp_path.joinpath("executed").touch, ())

    torch.save(Evil(), tmp_path / "g.pt")
    with pytest.raises(TableError, match="was not opened"):
        read_graph(tmp_path / "g.pt")
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"x": torch.ones(1)}, "must hold a PyTorch Geometric Data, got dict"),
        (Data(x=torch.ones(2, 1)), "has no edge_index"),
        (Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [7]])), "from 0 to 1, got 0 to 7"),
    ],
)
def test_a_saved_data_must_be_a_graph(tmp_path, content, message):
    torch.save(content, tmp_path / "g.pt")
    with pytest.raises(TableError, match=message):
        read_graph(tmp_path / "g.pt")


def test_unknown_kinds_and_absent_files(tmp_path):
    with pytest.raises(TableError, match=r"suffix must be one of \.npz, \.graphml"):
        read_graph(tmp_path / "g.gexf")
    with pytest.raises(TableError, match="no such file"):
        read_graph(tmp_path / "g.npz")


@given(
    st.binary(max_size=200), st.sampled_from([".npz", ".graphml", ".pt", ".edgelist", ".txt"]), st.booleans()
)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_a_graph_or_a_table_error(tmp_path, content, suffix, as_zip):
    path = tmp_path / f"g{suffix}"
    path.write_bytes((b"PK\x03\x04" if as_zip else b"") + content)
    try:
        data = read_graph(path)
    except TableError as error:
        assert str(path) in str(error)  # noqa: PT017 (both outcomes are right)
        return
    assert data.table_report.nodes == data.num_nodes
