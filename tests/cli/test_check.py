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


@pytest.mark.parametrize(
    "option", ["--directed", "--signed", "--relation since", "--right-nodes x", "--right-id x"]
)
def test_check_refuses_options_that_it_would_ignore(run, tables, option):
    code, _, err = run("check", *tables, *option.split())
    assert code == 2
    assert f"{option.split()[0]} cannot be used in gadc check" in err
    assert len(err.strip().splitlines()) == 1


def test_label_time_requires_tables(run):
    code, _, err = run("check", "--data", "cora", "--label-time", "decided")
    assert code == 2
    assert "--label-time requires tables" in err


def test_check_finds_edges_that_were_drawn_after_the_label(run_json, tmp_path):
    late = [(i, (i + 2) % 60, 20) for i in range(60)] + [(i, (i + 4) % 60, 21) for i in range(60)]
    early = [(i, (i + step) % 60, 5) for i in range(60) for step in (1, 3)]
    rows = pl.DataFrame([*early, *late], schema=["a", "b", "day"], orient="row")
    nodes = pl.DataFrame(
        {"id": range(60), "x": [i // 3 for i in range(60)], "kind": ["uv"[i % 2] for i in range(60)]}
    )
    rows.write_csv(tmp_path / "e.csv")
    nodes.with_columns(decided=pl.lit(10)).write_csv(tmp_path / "n.csv")
    words = ("check", "--edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv", "--label", "kind")
    words = (*words, "--kinds", "leak", "--exit-zero", "--time", "day")
    facts = run_json(*words, "--label-time", "decided")
    assert facts["kinds"]["leak"]["issues"] == 1
    assert "--until '10'" in " ".join(facts["notes"]["leak"])
    cured = run_json(*words, "--label-time", "decided", "--until", "10")
    assert cured["issues"] == 0


def test_check_repairs_tables_on_request(run, run_json, tables, tmp_path):
    edges = tmp_path / "edges.csv"
    count = len(pl.read_csv(edges))
    with edges.open("a") as file:
        file.write("n1,nobody,7\n,n2,8\n")
    code, _, err = run("check", *tables, "--kinds", "edge")
    assert code == 2
    assert "--repair empty-ids" in err
    words = (*tables, "--kinds", "edge", "--exit-zero", "-o", tmp_path / "out", "--format", "csv")
    run_json("check", *words, "--lenient")
    clean, removed = (pl.read_csv(tmp_path / "out" / f"edges_{name}.csv") for name in ("clean", "removed"))
    assert len(clean) + len(removed) == count + 2
    assert removed.filter(pl.col("reason").str.starts_with("not read")).height == 2
    run_json("check", *words, "--repair", "empty-ids", "--unknown", "drop")
