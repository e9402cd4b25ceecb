"""A packed graph on disk: what is read is what was written, and damage is noticed."""

import json

import numpy as np
import pytest
import torch

from gadc.datasets import csbm, from_tables
from gadc.diffusion._graph import adjacency
from gadc.packed import PackedGraph, PackedGraphError, pack_data
from gadc.packed._graph import as_tensor
from tests.helpers.tables import assert_same_graph, frames, named_graph


@pytest.fixture
def folder(tmp_path):
    return pack_data(csbm(60, num_features=20, seed=0), tmp_path / "graph", width=8, num_ranges=3)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("ids", [("a", "b", "c", "d"), (7, 5, 3, 1), (0, 1, 2, 3)])
def test_to_data_returns_what_was_packed(tmp_path, weighted, ids):
    data = named_graph(ids, weighted=weighted)
    graph = PackedGraph(pack_data(data, tmp_path / "graph", width=1), verify=True)
    assert_same_graph(graph.to_data(), data)
    assert graph.ids(1, 3).to_list() == list(ids[1:3])
    assert (tmp_path / "graph/ids.parquet").exists() == (ids[0] != 0)
    assert (graph.slabs, graph.num_edges) == (((0, 1), (1, 2)), 2)


def test_to_data_keeps_report_and_preparation(tmp_path):
    data = from_tables(*frames([(0, 1), (1, 2)], 4))
    read = PackedGraph(pack_data(data, tmp_path / "graph")).to_data()
    assert read.table_report == data.table_report
    assert read.feature_preparation == data.feature_preparation


def test_a_graph_without_edges_and_features_is_packed(tmp_path):
    data = from_tables(*frames([], 3))
    del data.x
    data.feature_names = []
    graph = PackedGraph(pack_data(data, tmp_path / "graph"))
    assert (graph.num_entries, graph.rows(np.array([0, 2])).shape) == (0, (2, 0))
    assert graph.adjacency().to_dense().tolist() == [[0.0] * 3] * 3
    assert graph.to_data().x is None


@pytest.mark.parametrize("weighted", [True, False])
def test_adjacency_is_the_one_of_the_edge_list(tmp_path, weighted):
    data = named_graph(weighted=weighted)
    built = PackedGraph(pack_data(data, tmp_path / "graph")).adjacency()
    expected = adjacency(data.edge_index, data.get("edge_weight"), 4)
    assert torch.equal(built.pattern.cols, expected.pattern.cols)
    assert torch.equal(built.pattern.row_ptr, expected.pattern.row_ptr)
    assert torch.equal(built.values, expected.values)


def test_rows_columns_and_slabs_agree_with_x(folder):
    graph, x = PackedGraph(folder), csbm(60, num_features=20, seed=0).x.numpy()
    assert (graph.columns(5, 18) == x[:, 5:18]).all()
    assert (graph.rows(np.array([4, 2])) == x[[4, 2]]).all()
    assert torch.equal(as_tensor(graph.slab(2)), torch.from_numpy(x[:, 16:]))
    assert (graph.degree == np.diff(graph.row_ptr)).all()
    assert graph.row_ranges[0][0] == 0
    assert graph.row_ranges[-1][1] == 60


def test_float16_slabs_are_read_as_float32(tmp_path):
    data = csbm(30, seed=1)
    graph = PackedGraph(pack_data(data, tmp_path / "graph", dtype="float16"))
    assert graph.slab(0).dtype == np.float16
    assert torch.equal(graph.to_data().x, data.x.half().float())


def test_a_folder_without_manifest_is_refused(folder, tmp_path):
    (folder / "manifest.json").unlink()
    with pytest.raises(PackedGraphError, match=r"must be a folder with a manifest.json, got none \(packing"):
        PackedGraph(folder)
    with pytest.raises(PackedGraphError, match=r"got none\.$"):
        PackedGraph(tmp_path / "nothing")


def _change(folder, **values):
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | values))


def test_another_version_is_refused(folder):
    _change(folder, version=2, gadc="9.9")
    with pytest.raises(PackedGraphError, match=r"must be 1, got 2, written by gadc 9\.9"):
        PackedGraph(folder)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"format": "x"}, "must be the manifest of a gadc packed graph"),
        ({"slabs": 3}, "is damaged"),
        ({"files": {}}, "is damaged"),
        ({"num_nodes": 61}, r"must be int64 of shape \(62,\)"),
        ({"dtype": "float16"}, "must be float16"),
    ],
)
def test_a_damaged_manifest_is_refused(folder, values, message):
    _change(folder, **values)
    with pytest.raises(PackedGraphError, match=message):
        PackedGraph(folder).slab(0)


def test_a_missing_truncated_or_swapped_file_is_refused(folder):
    slabs = [folder / f"x/slab-000{i}.npy" for i in range(2)]
    content = [slab.read_bytes() for slab in slabs]
    slabs[0].write_bytes(content[0][:-1])
    with pytest.raises(PackedGraphError, match="it was truncated"):
        PackedGraph(folder)
    slabs[0].write_bytes(content[1])
    slabs[1].write_bytes(content[0])
    with pytest.raises(PackedGraphError, match="changed or swapped"):
        PackedGraph(folder)
    slabs[1].unlink()
    slabs[0].write_bytes(content[0])
    with pytest.raises(PackedGraphError, match=r"must hold x/slab-0001\.npy"):
        PackedGraph(folder)


def test_verify_finds_a_change_of_one_byte(tmp_path):
    data = csbm(4000, num_features=20, seed=0)
    folder = pack_data(data, tmp_path / "graph")
    with (folder / "x/slab-0000.npy").open("r+b") as file:
        file.seek(10_000)  # between the sampled blocks
        file.write(b"\x01")
    PackedGraph(folder)
    with pytest.raises(PackedGraphError, match="changed or swapped"):
        PackedGraph(folder, verify=True)
