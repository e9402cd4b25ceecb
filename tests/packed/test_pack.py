"""Tables packed piece by piece give the graph and the report that `from_tables` gives in memory."""

import gzip
import pickle
from concurrent.futures import Executor, Future
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import gadc
from gadc._base.memory import MemoryLimitError
from gadc.datasets import TableError
from gadc.packed import _pack
from tests.helpers.tables import adds_up


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Make every piece of work tiny, so that a graph of ten nodes is divided."""
    plan_pieces = _pack.plan_pieces

    def small(*arguments):
        pieces, forecast = plan_pieces(*arguments)
        return replace(pieces, edge_rows=3, range_keys=4, columns=2), forecast

    monkeypatch.setattr(_pack, "plan_pieces", small)


def check(edges, nodes, out, **choices):
    """Compare the packed graph with the one in memory; return the packed one."""
    whole = [pl.concat(tables) if isinstance(tables, list) else tables for tables in (edges, nodes)]
    expected = gadc.from_tables(*whole, **choices)
    graph = gadc.pack(edges, nodes, out, **choices)
    data = graph.to_data()
    assert torch.equal(data.edge_index, expected.edge_index)
    assert (data.x is None and expected.x is None) or torch.equal(data.x, expected.x)
    assert (data.y is None and expected.y is None) or torch.equal(data.y, expected.y)
    for name in ("node_ids", "feature_names", "class_names", "feature_preparation"):
        assert data.get(name) == expected.get(name)
    weights = data.get("edge_weight"), expected.get("edge_weight")
    assert weights == (None, None) or torch.equal(*weights)
    names = {"edges_file": expected.table_report.edges_file, "nodes_file": expected.table_report.nodes_file}
    report = replace(data.table_report, **names)
    if not isinstance(edges, list):
        assert report == expected.table_report
    assert adds_up(report)
    degree = np.zeros(graph.num_nodes)
    np.add.at(degree, data.edge_index[0].numpy(), 1 if weights[0] is None else weights[0].numpy())
    assert np.allclose(graph.degree, degree)
    assert not (graph.path / "packing").exists()
    return graph


@settings(max_examples=15, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0.0, 0.5, 1.0, 3.0]))),
    unknown=st.sampled_from(["drop", "add"]),
    directed=st.booleans(),
    weight=st.sampled_from([None, "w"]),
    kind=st.sampled_from([pl.Int64, pl.String]),
    shift=st.integers(0, 1),
)
def test_pack_equals_from_tables(tmp_path_factory, rows, unknown, directed, weight, kind, shift):
    """Duplicates, self-loops, unknown ends, both directions, weights; ids 0..n-1, other numbers and text."""
    schema = {"source": pl.Int64, "target": pl.Int64, "w": pl.Float64}
    edges = pl.DataFrame(rows, schema=schema, orient="row").cast({"source": kind, "target": kind})
    ids = pl.Series("id", [shift + i for i in range(5)]).cast(kind)
    nodes = ids.to_frame().with_columns(f=pl.int_range(5), label=pl.Series(["a", None, "b", "a", None]))
    choices = {"unknown": unknown, "directed": directed, "weight": weight, "missing": "mean"}
    check(edges, nodes, tmp_path_factory.mktemp("packed") / "graph", **choices)


def test_pack_reads_several_files_and_all_kinds_of_columns(tmp_path):
    n, rng = 12, np.random.default_rng(0)
    ends = rng.integers(0, n, (2, 40))
    edges = pl.DataFrame({"src": ends[0], "dst": ends[1], "w": rng.random(40)})
    nodes = pl.DataFrame(
        {
            "node": [f"{i}" for i in range(n)],
            "a": [None, *range(1, n)],
            "city": ["Rome", "Oslo", None] * 4,
            "b": [True, False] * 6,
            "c": [1.5] * n,
            "class": [1.0, None, 2.0] * 4,
        }
    )
    edges = edges.cast({"src": pl.String, "dst": pl.String})
    parts = [edges[:25], edges[25:]], [nodes[:5], nodes[5:]]
    graph = check(*parts, tmp_path / "graph", weight="w", categorical="onehot", missing="mean")
    assert graph.feature_names == ["a", "city=Oslo", "city=Rome", "b", "c"]
    assert graph.report.constant == ["c"]


@pytest.mark.parametrize("suffix", ["csv", "tsv.gz", "parquet"])
def test_pack_reads_files_of_every_kind(tmp_path, suffix):
    edges, nodes = tmp_path / f"edges.{suffix}", tmp_path / f"nodes.{suffix}"
    frames = (
        pl.DataFrame({"source": [7, 8, 9, 7], "target": [8, 9, 7, 8], "other": ["x"] * 4}),
        pl.DataFrame({"id": [7, 8, 9], "a": [0.5, None, 2.0], "yes": ["true", "false", "true"]}),
    )
    for frame, path in zip(frames, (edges, nodes), strict=True):
        if suffix == "parquet":
            frame.write_parquet(path)
        else:
            text = frame.write_csv(separator="," if suffix == "csv" else "\t").replace("\n", "\n\n", 1)
            if suffix.endswith("gz"):
                path.write_bytes(gzip.compress(text.encode()))
            else:
                path.write_text(text)
    graph = check(edges, nodes, tmp_path / "graph", missing="zero")
    assert graph.report.edges_file == str(edges)


def test_pack_names_file_and_row_of_a_bad_cell_among_several_files(tmp_path):
    edges = pl.DataFrame({"source": [0], "target": [1]})
    (tmp_path / "a.csv").write_text("id,f\n0,1\n1,2\n")
    (tmp_path / "b.csv").write_text("id,f\n2,3\n\n3,4\n4,oops\n")
    with pytest.raises(TableError, match=r"b\.csv, row 5, column 'f': 'oops' is not a number"):
        gadc.pack(edges, [tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "graph")


def test_pack_names_the_row_of_an_unknown_node(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n" + "0,1\n" * 8 + "1,5\n")
    nodes = pl.DataFrame({"id": [0, 1], "f": [0, 1]})
    with pytest.raises(TableError, match=r"edges\.csv, row 10: 1 of 3 edges have an end .*'5'"):
        gadc.pack(tmp_path / "edges.csv", nodes, tmp_path / "graph")


def test_pack_adds_nodes_that_edges_name_by_text(tmp_path):
    edges = pl.DataFrame({"source": ["1", "x", "2"], "target": ["2", "1", "y"]})
    check(edges, pl.DataFrame({"id": [1, 2]}), tmp_path / "graph", unknown="add")


def test_pack_stores_float16_and_refuses_what_does_not_fit(tmp_path):
    edges, nodes = pl.DataFrame({"s": [0], "t": [1]}), pl.DataFrame({"id": [0, 1], "f": [0.1, 1.0]})
    graph = gadc.pack(edges, nodes, tmp_path / "graph", dtype="float16")
    assert graph.slab(0).dtype == np.float16
    with pytest.raises(ValueError, match=r"±65504 to be stored as float16, got 70000 in 'f'"):
        gadc.pack(edges, nodes.with_columns(f=pl.Series([7e4, 0])), tmp_path / "other", dtype="float16")


class Elsewhere(Executor):
    """Run what another process could run: functions and arguments that survive pickling."""

    def submit(self, function, /, *arguments):
        future = Future()
        function, arguments = pickle.loads(pickle.dumps((function, arguments)))
        future.set_result(function(*arguments))
        return future


def test_pack_refuses_categories_that_do_not_fit_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("gadc.packed._packing._features._BLOCK_BYTES", 10**9)
    edges = pl.DataFrame({"source": [0], "target": [1]})
    nodes = pl.DataFrame({"id": [0, 1], "city": ["Rome", "Oslo"]})
    with pytest.raises(MemoryLimitError, match=r"the 2 categories of the column 'city' need about 4\.0 GB"):
        gadc.pack(edges, nodes, tmp_path / "graph", memory="1GB", categorical="onehot")


def test_pack_on_an_executor_writes_the_same_files(tmp_path):
    rng = np.random.default_rng(1)
    edges = pl.DataFrame(rng.integers(0, 20, (50, 2)), schema=["source", "target"])
    nodes = pl.DataFrame({"id": range(20), **{f"f{i}": rng.random(20) for i in range(5)}})
    alone = gadc.pack(edges, nodes, tmp_path / "alone")
    graph = gadc.pack(edges, nodes, tmp_path / "graph", executor=Elsewhere())
    assert graph.checksum == alone.checksum
