"""`Lab`: what goes in and comes out, in every type, and at every size."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data

import gadc
from gadc.datasets import csbm, write_npz
from gadc.lab import KINDS, Findings, Kind, register
from tests.helpers.lab_graphs import as_tables, clean_graph, false_edges, wrong_labels

QUICK = ["isolated", "duplicate", "heterophily"]


@pytest.fixture(scope="module")
def graph():
    """A graph with false edges."""
    return false_edges(nodes=160)


@pytest.fixture(scope="module")
def tables(graph):
    """Its tables."""
    return as_tables(graph)


@pytest.fixture(scope="module")
def lab(tables):
    """A lab on these tables, all kinds looked for."""
    return gadc.Lab(*tables, label="trade").find_issues()


def test_all_kinds_are_found_in_one_call(lab):
    assert set(lab.findings) == set(KINDS)
    assert not lab.skipped
    summary = lab.summary()
    assert summary["kind"].to_list() == list(KINDS)
    assert "edges look false" in str(lab.report())
    assert "<table>" in lab._repr_html_()
    assert "<table>" in lab.report()._repr_html_()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_table_of_issues_has_the_documented_columns(lab, kind):
    frame = lab.issues(kind)
    start = frame.columns.index("is_issue")
    assert frame.columns[start : start + 4] == ["is_issue", "score", "probability", "reasons"]
    assert frame["score"].drop_nulls().is_between(0, 1).all()
    assert frame["probability"].drop_nulls().is_between(0, 1).all()
    assert frame.filter("is_issue")["reasons"].null_count() == 0


def test_ids_and_names_are_those_of_the_tables(lab):
    assert lab.issues("edge").columns[:2] == ["from", "to"]
    assert lab.issues("edge")["from"][0].startswith("n")
    assert lab.issues("label").columns[0] == "name"


def test_flagged_edges_are_mostly_the_planted_ones(lab, graph):
    found = lab.findings["edge"].issues
    true = {tuple(sorted(pair)) for pair in graph.clean_edge_index.T.tolist()}
    wrong = [tuple(sorted(pair)) in true for pair in found.select("source", "target").iter_rows()]
    assert len(found) > 60
    assert np.mean(wrong) < 0.35  # 3 % of the clean edges join two classes


def test_the_table_of_edges_says_what_removal_changes(lab):
    edges = lab.issues("edge")
    columns = ["fit_source", "fit_target", "effect_source", "effect_target"]
    assert edges.columns[-4:] == columns
    flagged = edges.filter("is_issue")
    assert flagged.select(columns).null_count().row(0) == (0, 0, 0, 0)
    # Ends fit in better without a false edge, and worse without a right one.
    assert flagged["fit_source"].mean() > 0 > edges.filter(~pl.col("is_issue"))["fit_source"].mean()


def test_a_second_call_adds_kinds():
    lab = gadc.Lab(clean_graph()).find_issues(kinds=["isolated"])
    lab.find_issues(kinds=["duplicate"])
    assert list(lab.findings) == ["isolated", "duplicate"]


def test_the_same_seed_gives_the_same_table():
    small = false_edges(nodes=80)
    tables = [gadc.Lab(small).find_issues(["edge"], seed=3).issues("edge") for _ in range(2)]
    assert tables[0].equals(tables[1])


def test_pandas_comes_back_as_pandas():
    edges, nodes = as_tables(false_edges(nodes=80))
    lab = gadc.Lab(edges.to_pandas(), nodes.to_pandas(), label="trade").find_issues(["edge"])
    assert isinstance(lab.issues("edge"), pd.DataFrame)
    assert isinstance(lab.clean().edges, pd.DataFrame)
    assert isinstance(lab.summary(), pd.DataFrame)


def _inputs(tmp_path):
    data = clean_graph(60)
    edges, nodes = as_tables(data)
    edges.write_csv(tmp_path / "edges.csv")
    nodes.write_csv(tmp_path / "nodes.csv")
    write_npz(data, tmp_path / "graph.npz")
    graph = nx.Graph(list(map(tuple, data.edge_index.T.tolist())))
    for node in graph:
        graph.nodes[node]["kind"] = int(data.y[node])
        graph.nodes[node]["size"] = float(data.x[node, 0])
    u, v = data.edge_index.numpy()
    matrix = sparse.csr_array((np.ones(len(u)), (u, v)), shape=(60, 60))
    return {
        "paths": ((tmp_path / "edges.csv", tmp_path / "nodes.csv"), "trade"),
        "file": ((tmp_path / "graph.npz",), None),
        "polars": ((edges, nodes), "trade"),
        "lazy": ((edges.lazy(), nodes.lazy()), "trade"),
        "arrow": ((edges.to_arrow(), nodes.to_arrow()), "trade"),
        "data": ((data,), None),
        "scipy": ((matrix, data.x.numpy()), data.y.numpy()),
        "networkx": ((graph,), "kind"),
    }


@pytest.mark.parametrize("name", ["paths", "file", "polars", "lazy", "arrow", "data", "scipy", "networkx"])
def test_every_documented_input_is_taken(name, tmp_path):
    given, label = _inputs(tmp_path)[name]
    lab = gadc.Lab(*given, label=label).find_issues(kinds=QUICK)
    assert lab.view.num_classes == 3
    assert lab.view.num_nodes == 60
    assert lab.view.features is not None
    assert isinstance(lab.summary(), pl.DataFrame)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((3,), "edges must be a path"),
        ((sparse.csr_array((2, 3)),), "must be square"),
        ((Data(num_nodes=2),), "must have edge_index"),
        ((csbm(20), np.ones((20, 2))), "nodes must not be given beside"),
    ],
)
def test_input_that_is_not_a_graph_is_refused(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        gadc.Lab(*given)


def test_unknown_kinds_and_kinds_not_looked_for_are_refused():
    lab = gadc.Lab(clean_graph(40))
    with pytest.raises(ValueError, match="kinds must be among 'heterophily', 'edge'"):
        lab.find_issues(kinds=["edges"])
    with pytest.raises(ValueError, match=r"call find_issues\(kinds=\['edge'\]\) first"):
        lab.issues("edge")


def test_edges_alone_are_enough():
    edges = pl.DataFrame({"a": ["x", "y", "z"], "b": ["y", "z", "x"]})
    lab = gadc.Lab(edges).find_issues()
    assert set(lab.skipped) == {"label", "feature", "leak"}
    assert "it needs features" in lab.skipped["feature"]
    assert "Not looked for: label" in str(lab.report())


@pytest.mark.parametrize(
    "change", ["five", "one class", "no features", "isolated", "no edges", "constant", "one label"]
)
def test_unusual_graphs_are_judged_without_error(change):
    data = csbm(5, mean_degree=2.0, seed=0) if change == "five" else clean_graph(60)
    if change == "one class":
        data.y = torch.zeros_like(data.y)
    if change == "no features":
        data.num_nodes, data.x = 60, None
    if change == "isolated":
        data.edge_index = data.edge_index[:, (data.edge_index > 20).all(0)]
    if change == "no edges":
        data.edge_index = data.edge_index[:, :0]
    if change == "constant":
        data.x = torch.ones_like(data.x)
    if change == "one label":
        data.y = torch.where(torch.arange(60) < 1, data.y, -1)
    lab = gadc.Lab(data).find_issues()
    assert set(lab.findings) | set(lab.skipped) == set(KINDS)
    assert str(lab.report())
    if change == "isolated":
        assert lab.issues("isolated")["is_issue"].sum() == 21


def test_a_heterophilous_graph_is_named_and_its_edges_are_not_judged_by_likeness():
    lab = gadc.Lab(csbm(300, homophily=0.05, signal=3.0, mean_degree=12, seed=0)).find_issues(
        ["heterophily", "edge"]
    )
    assert lab.issues("heterophily")["is_issue"][0]
    notes = " ".join(lab.findings["edge"].notes)
    assert "Withheld" in notes or "Edges join unlike nodes" in notes


def test_clean_leaves_the_tables_alone_and_gives_reasons(lab, tables):
    edges, nodes = tables
    before = edges.clone(), nodes.clone()
    cleaned = lab.clean(labels=True, missing_edges=True)
    assert edges.equals(before[0])
    assert nodes.equals(before[1])
    flagged = int(lab.issues("edge")["is_issue"].sum())
    assert len(cleaned.removed) == flagged
    assert cleaned.removed.columns == [*edges.columns, "reason"]
    assert cleaned.removed["reason"].null_count() == 0
    added = cleaned.edges["reason"].is_not_null().sum()
    assert len(cleaned.edges) == len(edges) - flagged + added
    assert len(cleaned.nodes) == len(nodes)


def test_clean_corrects_labels_and_says_so():
    data = wrong_labels()
    edges, nodes = as_tables(data)
    lab = gadc.Lab(edges, nodes, label="trade").find_issues(["label"])
    cleaned = lab.clean(edges=False, labels=True).nodes
    right = [f"t{(c - 1) % 3}" for c in data.y[:24].tolist()]
    fixed = [new == old for new, old in zip(cleaned["trade"][:24], right, strict=True)]
    assert sum(fixed) >= 16
    assert cleaned["reason"][:24].is_not_null().sum() >= 16


def test_clean_needs_the_kind_it_uses():
    with pytest.raises(ValueError, match="looked for"):
        gadc.Lab(clean_graph(40)).clean()


class _Hub(Kind):
    name, title, items = "hub", "Nodes with many neighbours", "node"

    def find(self, view):
        node = np.argsort(-view.degree, kind="stable")
        share = view.degree[node] / max(view.num_nodes - 1, 1)
        frame = pl.DataFrame({"node": node, "is_issue": share > 0.5, "score": 1 - share})
        frame = frame.with_columns(probability=pl.lit(None, pl.Float64), reasons=pl.lit("it is a hub"))
        return Findings(frame=frame, summary="Hubs.")


def test_a_kind_of_ones_own_can_be_registered():
    before = dict(KINDS)
    try:
        register(_Hub())
        star = pl.DataFrame({"source": ["a"] * 6, "target": list("bcdefg")})
        lab = gadc.Lab(star).find_issues(kinds=["hub"])
    finally:
        KINDS.clear()
        KINDS.update(before)
    assert lab.issues("hub").filter("is_issue")["id"].to_list() == ["a"]
    with pytest.raises(TypeError, match="must be an object of a subclass"):
        register(_Hub)


def test_findings_without_the_common_columns_are_refused():
    with pytest.raises(ValueError, match="got no 'is_issue'"):
        Findings(frame=pl.DataFrame({"node": [1]}), summary="")


@pytest.mark.parametrize("name", ["stored", "stored.zip"])
def test_a_stored_lab_is_the_same(lab, tmp_path, name):
    lab.save(tmp_path / name)
    again = gadc.Lab.load(tmp_path / name)
    for kind in KINDS:
        assert again.issues(kind).equals(lab.issues(kind)), kind
    assert str(again.report()) == str(lab.report())
    assert again.clean().edges.equals(lab.clean().edges)
    assert not list(tmp_path.glob(".*"))


def test_a_damaged_store_is_refused(lab, tmp_path):
    lab.save(tmp_path / "stored")
    (tmp_path / "stored" / "graph.safetensors").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="truncated or not a safetensors file"):
        gadc.Lab.load(tmp_path / "stored")
    (tmp_path / "other.zip").write_text("no zip")
    with pytest.raises(ValueError, match="neither a folder nor a zip"):
        gadc.Lab.load(tmp_path / "other.zip")


def test_the_page_shows_hostile_names_harmlessly(tmp_path):
    edges = pl.DataFrame({"source": ["<script>alert(1)</script>", "b"], "target": ["b", "c"]})
    nodes = pl.DataFrame({"id": ["<script>alert(1)</script>", "b", "c", "<img src=x>"]})
    gadc.Lab(edges, nodes).find_issues(["isolated"]).write(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "&lt;img src=x&gt;" in page


def test_decided_items_leave_the_list_and_count_as_truth():
    edges, nodes = as_tables(false_edges(nodes=80))
    lab = gadc.Lab(edges, nodes, label="trade").find_issues(["edge"])
    worst = lab.issues("edge").head(3)
    decisions = pl.DataFrame(
        {
            "kind": ["edge"] * 3,
            "source": worst["to"],  # the direction does not matter
            "target": worst["from"],
            "decision": ["drop", "keep", "unsure"],
            "note": ["wrong", "", "?"],
        }
    )
    lab.decide(decisions)
    assert len(lab.issues("edge")) == len(edges) - 2
    assert lab.issues("edge").row(0)[:2] == worst.row(2)[:2]
    assert lab.precision_so_far() == {"edge": (1, 2)}
    assert "a precision of 50 %" in str(lab.report())
    removed = lab.clean().removed.select("from", "to").rows()
    assert worst.row(0)[:2] in removed
    assert worst.row(1)[:2] not in removed


def test_later_decisions_add_to_earlier_ones_and_replace_them():
    graph = clean_graph(40)
    graph.edge_index = graph.edge_index[:, ((graph.edge_index != 1) & (graph.edge_index != 2)).all(0)]
    lab = gadc.Lab(graph).find_issues(["isolated"])
    flagged = set(lab.issues("isolated").filter("is_issue")["id"].to_list())
    assert {1, 2} <= flagged

    def decide(node, decision):
        lab.decide(pl.DataFrame({"kind": ["isolated"], "id": [str(node)], "decision": [decision]}))

    decide(1, "keep")
    decide(2, "drop")
    assert lab.precision_so_far() == {"isolated": (1, 2)}
    decide(1, "drop")
    assert lab.precision_so_far() == {"isolated": (2, 2)}
    decide(1, "unsure")
    assert 1 in lab.issues("isolated").filter("is_issue")["id"].to_list()


def test_unknown_decisions_are_refused():
    lab = gadc.Lab(clean_graph(40)).find_issues(["isolated"])
    with pytest.raises(ValueError, match="decision must be one of keep, drop, unsure, got 'maybe'"):
        lab.decide(pl.DataFrame({"kind": ["isolated"], "id": ["1"], "decision": ["maybe"]}))


def test_progress_is_told():
    steps = []
    gadc.Lab(clean_graph(40)).find_issues(["isolated"], progress=steps.append)
    assert steps == ["isolated: components"]


def test_the_summary_can_be_written_as_json(lab):
    assert json.loads(json.dumps(lab.summary().to_dicts()))[0]["kind"] == "heterophily"


@pytest.mark.parametrize("num_nodes", [2, 3, 5])
def test_a_few_nodes_with_features_and_labels_are_enough(num_nodes):
    ids = list(range(num_nodes))
    edges = pl.DataFrame({"source": ids[:-1], "target": ids[1:]})
    nodes = pl.DataFrame({"id": ids, "x": [float(i % 2) for i in ids], "label": [str(i % 2) for i in ids]})
    lab = gadc.Lab(edges, nodes).find_issues()
    assert set(lab.findings) | set(lab.skipped) == set(gadc.lab.KINDS)
    assert str(lab.report())


def test_edges_without_rows_and_without_a_node_table_are_refused():
    with pytest.raises(ValueError, match="Lab: edges must name at least one node, got no rows in edges"):
        gadc.Lab(pl.DataFrame({"source": [], "target": []}))
