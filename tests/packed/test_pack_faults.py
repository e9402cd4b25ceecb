"""Packing that is interrupted, repeated, started twice or out of space: nothing looks complete too early."""

import json

import numpy as np
import polars as pl
import pytest

import gadc
from gadc._base.locks import sole_writer
from gadc._base.memory import MemoryLimitError
from gadc.packed import PackedGraphError
from gadc.packed._packing import _features
from tests.helpers.full_disk import full_disk


@pytest.fixture
def tables(tmp_path):
    rng = np.random.default_rng(0)
    edges, nodes = tmp_path / "edges.parquet", tmp_path / "nodes.csv"
    pl.DataFrame(rng.integers(0, 300, (2000, 2)), schema=["source", "target"]).write_parquet(edges)
    pl.DataFrame({"id": range(300), "f": rng.random(300), "g": rng.random(300)}).write_csv(nodes)
    return edges, nodes, tmp_path / "graph"


def test_a_repeated_call_resumes(tables, monkeypatch):
    def fail(*_):
        raise RuntimeError("killed")

    monkeypatch.setattr("gadc.packed._packing._stages.write_sum", fail)
    with pytest.raises(RuntimeError, match="killed"):
        gadc.pack(*tables)
    monkeypatch.undo()
    with pytest.raises(PackedGraphError, match="packing has not finished"):
        gadc.PackedGraph(tables[2])
    seen = []
    gadc.pack(*tables, progress=lambda p: seen.append((p.stage, p.tasks_done, p.num_tasks)))
    begun = {stage: done for stage, done, _ in reversed(seen)}
    assert (begun["edges"], begun["rows"], begun["features"], begun["checksums"]) == (1, 2, 1, 0)


def test_a_finished_graph_is_not_packed_again(tables):
    first = gadc.pack(*tables)
    seen = []
    assert gadc.pack(*tables, progress=seen.append).checksum == first.checksum
    assert seen == []


def test_another_graph_is_replaced_only_on_request(tables):
    first = gadc.pack(*tables)
    with pytest.raises(FileExistsError, match=r"of other tables or settings, got .*300 nodes.*--overwrite"):
        gadc.pack(*tables, features=["g"], directed=True)
    assert gadc.pack(*tables, memory="3GB").checksum == first.checksum  # memory does not change the graph
    graph = gadc.pack(*tables, features=["g"], directed=True, overwrite=True)
    assert (graph.feature_names, graph.directed) == (["g"], True)
    edges, nodes, out = tables
    pl.read_parquet(edges).head(100).write_parquet(edges)
    assert gadc.pack(edges, nodes, out, overwrite=True).report.rows == 100
    (out / "manifest.json").write_text("{}")
    with pytest.raises(FileExistsError, match=r"one that cannot be used .*got other JSON"):
        gadc.pack(edges, nodes, out)


def test_the_same_data_frames_are_not_packed_again(tables):
    edges, nodes = pl.read_parquet(tables[0]), pl.read_csv(tables[1])
    first = gadc.pack(edges, nodes, tables[2])
    seen = []
    assert gadc.pack(edges.clone(), nodes, tables[2], progress=seen.append).checksum == first.checksum
    assert seen == []
    with pytest.raises(FileExistsError, match="of other tables"):
        gadc.pack(edges.reverse(), nodes, tables[2])


def test_an_interrupted_replacement_leaves_no_manifest(tables, monkeypatch):
    gadc.pack(*tables)
    monkeypatch.setattr(_features, "write_array", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        gadc.pack(*tables, directed=True, overwrite=True)
    with pytest.raises(PackedGraphError, match="packing has not finished"):
        gadc.PackedGraph(tables[2])


def test_a_second_call_for_the_same_folder_is_refused(tables):
    tables[2].mkdir()
    with (
        sole_writer("pack", tables[2] / "manifest.json", "other tables"),
        pytest.raises(BlockingIOError, match=r"pack: .*manifest\.json is being written by process \d+"),
    ):
        gadc.pack(*tables)


@pytest.mark.parametrize("size", [3000, 12_000])
def test_a_full_disk_is_an_error_and_a_repeated_call_resumes(tables, size):
    with full_disk(size), pytest.raises(OSError, match=r"cannot be written|too large"):
        gadc.pack(*tables)
    with pytest.raises(PackedGraphError, match="packing has not finished"):
        gadc.PackedGraph(tables[2])
    assert gadc.pack(*tables).num_nodes == 300


def test_a_folder_with_other_files_is_refused(tables):
    tables[2].mkdir()
    (tables[2] / "letters.txt").write_text("dear")
    with pytest.raises(FileExistsError, match=r"must be a new or empty folder .* with 'letters\.txt' in it"):
        gadc.pack(*tables)
    with pytest.raises(FileExistsError, match="must be a folder, got the file"):
        gadc.pack(*tables[:2], tables[0])


def test_memory_that_does_not_suffice_is_refused_with_the_figures(tables):
    with pytest.raises(
        MemoryLimitError, match=r"memory must be at least 6\d\d\.\d MB for 30\d nodes .*got 1\.0"
    ):
        gadc.pack(*tables, memory="1MB")
    with pytest.raises(ValueError, match="memory must be bytes or text"):
        gadc.pack(*tables, memory="much")


def test_the_forecast_is_told_before_the_work(tables):
    told = []
    gadc.pack(*tables, memory="2GB", forecast=told.append)
    assert told[0].memory <= 2e9
    assert told[0].num_rows == 2000
    assert "memory up to" in told[0].summary()


def test_the_work_of_another_version_is_not_resumed(tables):
    (tables[2] / "packing").mkdir(parents=True)
    (tables[2] / "packing/inputs.json").write_text(json.dumps(["another version"]))
    (tables[2] / "degree.npy").write_bytes(b"old")
    assert gadc.pack(*tables).degree.shape == (300,)
