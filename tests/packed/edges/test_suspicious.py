"""The least trusted edges of a packed graph are those of the same graph in memory."""

import json

import numpy as np
import polars as pl
import pytest
import torch

import gadc
from gadc import packed
from gadc.datasets import TableError, csbm
from gadc.packed._edges import read_pairs
from gadc.packed._edges._loops import count_common
from gadc.packed._edges._worst import highest
from gadc.robustness.edges import SCORES, detection_quality
from gadc.transforms import EdgeAddition


@pytest.fixture(scope="module")
def data():
    found = EdgeAddition(rate=0.2, seed=0)(csbm(80, num_classes=4, num_features=6, homophily=1.0, seed=0))
    found.node_ids = [f"n{i}" for i in range(80)]
    found.edge_weight = (found.edge_index.sum(0) % 5 + 1).float()
    found.x[3] = 0
    return found


@pytest.mark.parametrize("score", SCORES)
def test_packed_edges_equal_suspicious_edges_in_memory(tmp_path, data, score):
    graph = packed.pack_data(data, tmp_path / "graph", num_ranges=3)
    found = packed.suspicious_edges(graph, tmp_path / "run", top=40, score=score)
    expected = gadc.suspicious_edges(data, score=score)
    assert found.num_edges == len(expected)
    first = expected.head(40)
    assert found.table.columns == [name for name in expected.columns if name != "known_false"]
    same = ["rank", "source", "target", "weight_before"]
    assert found.table.select(same).equals(first.select(same))
    if score == "combined":
        assert found.table["score"].equals(first["score"])
    for name in ("cosine", "weight_after", "score"):
        np.testing.assert_allclose(found.table[name], first[name], atol=1e-6)


def test_packed_edges_with_several_slabs_have_the_same_scores_up_to_rounding(tmp_path, data):
    graph = packed.pack_data(data, tmp_path / "graph", width=2, num_ranges=3)
    count = data.edge_index.shape[1] // 2
    found = packed.suspicious_edges(graph, tmp_path / "run", top=count).table
    expected = gadc.suspicious_edges(data)
    both = found.join(expected, on=["source", "target"], suffix="_memory")
    assert len(both) == count
    np.testing.assert_allclose(both["score"], both["score_memory"], atol=2 / count)


def test_packed_edges_find_false_edges_with_about_the_same_probability(tmp_path, data):
    graph = packed.pack_data(data, tmp_path / "graph")
    count = data.edge_index.shape[1] // 2
    found = packed.suspicious_edges(graph, tmp_path / "run", top=count)
    expected = gadc.suspicious_edges(data)
    total = float(expected["probability"].sum())
    assert found.expected_false == pytest.approx(float(found.table["probability"].sum()))
    assert found.expected_false == pytest.approx(total, rel=0.3)  # another sample of planted edges
    assert np.all(np.diff(found.table["probability"]) <= 1e-12)


def test_packed_edges_refuse_a_directed_graph(tmp_path, data):
    graph = packed.pack_data(data, tmp_path / "graph", directed=True)
    with pytest.raises(ValueError, match="must be undirected, got a directed one"):
        packed.suspicious_edges(graph, tmp_path / "run")


@pytest.mark.parametrize(
    ("wrong", "says"), [({"top": 0}, "top must be"), ({"score": "best"}, "score must be")]
)
def test_packed_edges_refuse_wrong_settings(tmp_path, data, wrong, says):
    graph = packed.pack_data(data, tmp_path / "graph")
    with pytest.raises(ValueError, match=says):
        packed.suspicious_edges(graph, tmp_path / "run", **wrong)


def test_packed_edges_of_a_graph_without_edges(tmp_path):
    data = csbm(20, num_features=3, seed=0)
    data.edge_index = torch.empty((2, 0), dtype=torch.int64)
    found = packed.suspicious_edges(packed.pack_data(data, tmp_path / "graph"), tmp_path / "run")
    assert (len(found.table), found.num_edges, found.expected_false) == (0, 0, 0.0)


def test_highest_takes_the_first_of_equal_scores():
    assert highest(np.array([1.0, 3.0, 2.0, 3.0, 2.0, 2.0]), 4).tolist() == [1, 2, 3, 4]


def test_count_common_counts_triangles():
    row_ptr, cols = np.array([0, 2, 5, 7, 8]), np.array([1, 2, 0, 2, 3, 0, 1, 1], dtype=np.int32)
    counts = np.zeros(3, dtype=np.float32)
    count_common(row_ptr, cols, np.array([0, 1, 0]), np.array([1, 3, 3]), counts)
    assert counts.tolist() == [1, 0, 1]


def test_gadc_edges_lists_the_top_of_a_packed_graph(tmp_path, data, capsys):
    from gadc.cli import main

    graph = packed.pack_data(data, tmp_path / "graph")
    with pytest.raises(SystemExit) as stop:
        main(["edges", "--graph", str(graph), "--top", "7", "-o", str(tmp_path / "worst.csv")])
    assert stop.value.code == 0
    table = pl.read_csv(tmp_path / "worst.csv")
    expected = gadc.suspicious_edges(data).head(7)
    assert table["source"].to_list() == expected["source"].to_list()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph", "worst.csv"]


@pytest.mark.parametrize("score", ["combined", "cosine"])
def test_packed_edges_measure_a_score_by_edges_known_to_be_false(tmp_path, data, score):
    graph = packed.pack_data(data, tmp_path / "graph", num_ranges=3)
    expected = gadc.suspicious_edges(data, score=score)
    numbers = {name: i for i, name in enumerate(data.node_ids)}
    false = expected.filter("known_false")
    known = np.array([[numbers[one] for one in false[end]] for end in ("target", "source")])
    pairs = np.hstack([known, known[:, :2], [[0], [79]]])  # twice, and one that is not an edge
    found = packed.suspicious_edges(graph, tmp_path / "run", top=40, score=score, known_false=pairs)
    assert found.table["known_false"].equals(expected["known_false"].head(40))
    quality = detection_quality(expected["score"].to_torch(), expected["known_false"].to_torch())
    assert (found.quality["known_false"], found.quality["known_false_not_in_graph"]) == (len(false), 1)
    for name, value in quality.items():
        assert found.quality[name] == pytest.approx(value, abs=2e-3)


@pytest.mark.parametrize("ids", ["numbers", "text"])
def test_pairs_of_a_table_are_found_by_their_ids(tmp_path, data, ids):
    kept = data.clone()
    kept.node_ids = data.node_ids if ids == "text" else None
    graph = packed.PackedGraph(packed.pack_data(kept, tmp_path / "graph"))
    names = [["n7", "n2"], ["n3", "n9"]] if ids == "text" else [[7, 2], [3, 9]]
    table = tmp_path / "false.csv"
    pl.DataFrame({"from": names[0], "to": names[1]}).write_csv(table)
    assert sorted(map(tuple, read_pairs(graph, table).T.tolist())) == [(2, 9), (3, 7)]
    table.write_text("source,target\nn1,nobody\n")
    with pytest.raises(TableError, match=r"nobody|n1"):
        read_pairs(graph, table)


def test_gadc_edges_reads_known_edges_and_refuses_effects_beyond_memory(tmp_path, data, capsys):
    from gadc.cli import main

    graph, truth = packed.pack_data(data, tmp_path / "graph"), tmp_path / "false.csv"
    expected = gadc.suspicious_edges(data)
    expected.filter("known_false").select("source", "target").write_csv(truth)
    with pytest.raises(SystemExit):
        main(["edges", "--graph", str(graph), "--top", "9", "--truth", str(truth), "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert facts["known_false"] == expected["known_false"].sum()
    assert facts["first"][0]["known_false"] == expected["known_false"][0]
    model = tmp_path / "model.safetensors"
    gadc.GADCClassifier(variant="plain", num_steps=2, epochs=5, random_state=0).fit_data(data).save(model)
    options = ["edges", "--graph", str(graph), "--model", str(model), "--top", "4", "--effects", "4"]
    with pytest.raises(SystemExit) as stop:
        main([*options, "--json"])
    first = json.loads(capsys.readouterr().out)["first"]
    assert (stop.value.code, len(first), "effect_source" in first[0]) == (0, 4, True)
    for more, says in ((["--memory", "1kB"], "need the graph in memory"), (["--dry-run"], "in memory")):
        with pytest.raises(SystemExit) as stop:
            main([*options, *more])
        assert (stop.value.code, says in capsys.readouterr().err) == (2, True)
