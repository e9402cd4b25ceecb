"""`gadc check`: tables, words, exit codes and decisions."""

import polars as pl
import pytest

from gadc.lab import KINDS
from tests.helpers.lab_graphs import as_tables, clean_graph, false_edges


@pytest.fixture
def tables(tmp_path):
    """Two tables with false edges."""
    edges, nodes = as_tables(false_edges(nodes=150))
    edges.write_csv(tmp_path / "edges.csv")
    nodes.write_csv(tmp_path / "nodes.csv")
    return "--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv", "--label", "trade"


def test_check_writes_one_table_per_kind_and_exits_with_3(run, tables, tmp_path):
    code, out, err = run("check", *tables, "-o", tmp_path / "issues", "--report", tmp_path / "check.html")
    assert code == 3, err
    assert "edges look false" in out
    assert {path.stem for path in (tmp_path / "issues").iterdir()} == {*KINDS, "edges_clean", "edges_removed"}
    edges = pl.read_csv(tmp_path / "edges.csv")
    clean, removed = (
        pl.read_parquet(tmp_path / "issues" / f"edges_{name}.parquet") for name in ("clean", "removed")
    )
    assert len(clean) + len(removed) == len(edges)
    assert clean.columns == [*edges.columns, "reason"]
    assert removed["reason"].null_count() == 0
    page = (tmp_path / "check.html").read_text(encoding="utf-8")
    assert "://" not in page.replace("http://www.w3.org", "")


def test_check_of_a_sound_graph_exits_with_0(run, tmp_path):
    edges, nodes = as_tables(clean_graph(60))
    edges.write_csv(tmp_path / "e.csv")
    nodes.write_csv(tmp_path / "n.csv")
    code, out, _ = run(
        "check", "--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv", "--kinds", "isolated,duplicate"
    )
    assert code == 0
    assert "No isolated node was found" in out


def test_check_with_exit_zero_prints_json(run_json, tables):
    facts = run_json("check", *tables, "--kinds", "edge", "--exit-zero", "--seed", "1")
    assert facts["issues"] == facts["kinds"]["edge"]["issues"] > 20
    assert facts["kinds"]["edge"]["expected_true"] > 20
    assert facts["skipped"] == {}


def test_decisions_are_read_back(run_json, tables, tmp_path):
    run_json("check", *tables, "--kinds", "edge", "--exit-zero", "-o", tmp_path / "out", "--format", "csv")
    worst = pl.read_csv(tmp_path / "out" / "edge.csv").head(2)
    table = worst.select(pl.lit("edge").alias("kind"), source="from", target="to")
    table.with_columns(decision=pl.Series(["drop", "keep"]), note=pl.lit("")).write_csv(tmp_path / "d.csv")
    facts = run_json("check", *tables, "--kinds", "edge", "--exit-zero", "--decisions", tmp_path / "d.csv")
    assert facts["precision_so_far"] == {"edge": {"confirmed": 1, "decided": 2}}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--kinds", "edges"), "kinds must be among"),
        (("--format", "xlsx"), "--format must be one of"),
        (("--report", "check.txt"), "--report must end in"),
        (("--decisions", "nowhere.csv"), "--decisions must be a file"),
        (("--precision", "2"), "precision must lie in"),
    ],
)
def test_check_refuses_requests_that_make_no_sense(run, tables, options, message):
    code, _, err = run("check", *tables, *options)
    assert code == 2
    assert message in err
