"""`gadc update`: a state in a folder that follows tables of changes."""

import json

import numpy as np
import polars as pl
import pytest

import gadc
from gadc.cli import main


def _run(*words):
    with pytest.raises(SystemExit) as done:
        main([str(word) for word in words])
    return done.value.code


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    ids = [f"n{k}" for k in range(30)]
    nodes = pl.DataFrame({"id": ids, "a": rng.standard_normal(30), "b": rng.standard_normal(30)})
    nodes.write_csv("nodes.csv")
    ends = rng.integers(0, 30, (60, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    pl.DataFrame({"source": [ids[u] for u, _ in ends], "target": [ids[v] for _, v in ends]}).write_csv(
        "edges.csv"
    )
    return tmp_path


def _create(*more):
    words = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--variant", "plain", "--lam", 4, *more)
    return _run("update", "state", *words)


def test_update_gives_what_the_whole_tables_give(tables, capsys):
    assert _create("-o", "first.parquet") == 0
    assert len(pl.read_parquet("first.parquet")) == 30
    pl.DataFrame({"id": ["n3", "new"], "a": [2.0, 1.0], "b": [0.5, -1.0]}).write_csv("more.csv")
    pl.DataFrame({"source": ["new", "n1"], "target": ["n4", "n2"]}).write_csv("add.csv")
    edges = pl.read_csv("edges.csv")
    edges.head(2).write_csv("gone.csv")
    capsys.readouterr()
    changes = ("--add", "add.csv", "--remove", "gone.csv", "--nodes", "more.csv")
    assert _run("update", "state", *changes, "-o", "changed.parquet", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["new_nodes"] == 1
    assert facts["changed_features"] == 1
    assert facts["nodes"] == 31
    changed = pl.read_parquet("changed.parquet")
    assert len(changed) == facts["changed_rows"]
    assert {"new", "n3"} <= set(changed["id"])
    state = gadc.DiffusionState.load("state")
    edges, weight = state.edges
    settings = {"variant": "plain", "lam": 4.0, "num_steps": None, "rtol": 1e-6}
    exact = gadc.diffuse(state.x, edges, weight, **settings)
    assert ((state.features - exact).norm(dim=1) <= state.row_bounds() + 1e-5).all()
    last = changed.filter(pl.col("id") == "new").drop("id").to_numpy()[0]
    assert np.allclose(last, state.features[30].numpy())


def test_edges_that_are_there_or_not_are_counted(tables, capsys):
    assert _create() == 0
    edges = pl.read_csv("edges.csv")
    edges.head(1).write_csv("add.csv")
    capsys.readouterr()
    assert _run("update", "state", "--add", "add.csv", "--remove", "add.csv", "--json") == 0
    assert "1 edges of --add are in the graph already" in capsys.readouterr().err
    assert _run("update", "state", "--remove", "add.csv", "--json") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["removed_edges"] == 0
    assert "1 edges of --remove are not in the graph" in captured.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--add", "edges.csv"), "holds none; create it first"),
        (("--nodes", "nodes.csv"), "add --edges"),
        (("--data", "cora", "--edges", "edges.csv"), "either --data"),
    ],
)
def test_request_without_a_state_is_refused(tables, capsys, words, message):
    assert _run("update", "state", *words) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give changes by --add, --remove or --nodes"),
        (("--edges", "edges.csv", "--nodes", "nodes.csv"), "holds a state already"),
        (("--add", "edges.csv", "--lam", "2"), "--lam is chosen when a state is created"),
        (("--add", "unknown.csv"), "n99"),
    ],
)
def test_wrong_change_is_refused_and_changes_nothing(tables, capsys, words, message):
    assert _create() == 0
    pl.DataFrame({"source": ["n99"], "target": ["n1"]}).write_csv("unknown.csv")
    before = (tables / "state" / "state.json").read_text()
    assert _run("update", "state", *words) == 2
    assert message in capsys.readouterr().err
    assert (tables / "state" / "state.json").read_text() == before


def test_state_of_python_has_no_ids(tables, capsys):
    import torch

    gadc.DiffusionState(torch.eye(3), torch.tensor([[0], [1]]), variant="plain").save("state")
    assert _run("update", "state", "--add", "edges.csv") == 2
    assert "was not created by `gadc update`" in capsys.readouterr().err
