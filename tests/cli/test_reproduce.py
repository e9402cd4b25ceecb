"""`gadc reproduce`, run as a user runs it."""

import json
from pathlib import Path

import pytest

from gadc.experiments import Store, load_table, table_names
from tests.helpers.tiny import BROKEN, tiny_table

KEYS = ["table", "row", "column", "runs", "mean", "std", "paper_mean", "paper_std"]
MLP = ("--rows", "mlp", "--columns", "clean")


@pytest.fixture
def figures(run_json):
    """Run the command and return its figures by row and column."""

    def figures(*args):
        entries = run_json("reproduce", *args)
        return {(entry["row"], entry["column"]): entry for entry in entries}

    return figures


def test_list_names_every_table(run_json):
    listed = {entry["table"]: entry for entry in run_json("reproduce", "list")}
    assert list(listed) == table_names()
    assert listed["metattack"]["source"] == "Table 1"
    assert listed["metattack"]["runs"] == 10
    assert "gadc-iv" in listed["metattack"]["rows"]
    assert "gcn-svd" not in listed["metattack"]["rows"] or load_table("metattack").row("gcn-svd").model
    assert "cora-0.25" in listed["metattack"]["columns"]


def test_list_prints_a_table(tables, run):
    code, out, _ = run("reproduce", "list")
    assert code == 0
    assert "tiny" in out
    assert "gadc, mlp" in out


def test_json_has_fixed_keys(tables, run_json):
    entries = run_json("reproduce", "tiny")
    assert [list(entry) for entry in entries] == [KEYS] * 5
    cells = [(entry["row"], entry["column"]) for entry in entries]
    assert cells == [
        *((row, column) for row in ("gadc", "mlp") for column in ("clean", "noisy")),
        ("paper", "clean"),
    ]
    gadc, mlp, paper = entries[0], entries[2], entries[4]
    assert (gadc["table"], gadc["runs"], gadc["paper_mean"], gadc["paper_std"]) == ("tiny", 1, 90.0, 1.5)
    assert 0 < gadc["mean"] <= 100
    assert gadc["std"] == 0
    assert (mlp["paper_mean"], mlp["paper_std"]) == (None, None)
    assert (paper["runs"], paper["mean"], paper["std"], paper["paper_std"]) == (0, None, None, None)


def test_stored_runs_are_not_repeated(tables, figures):
    first = figures("tiny", "--out", "here")
    content = {path.name: path.read_bytes() for path in Path("here").iterdir()}
    assert set(content) == {"settings.jsonl", "tiny.csv", "versions.jsonl"}
    assert figures("tiny", "--out", "here") == first
    assert {path.name: path.read_bytes() for path in Path("here").iterdir()} == content


def test_all_tables_run_into_the_folder_results_by_default(tables, run_json):
    tables["other"] = tiny_table(name="other", runs=1)
    assert [entry["table"] for entry in run_json("reproduce", *MLP)] == ["other", "tiny"]
    assert sorted(path.name for path in Path("results").glob("*.csv")) == ["other.csv", "tiny.csv"]


def test_rows_columns_and_runs_can_be_chosen(tables, figures):
    found = figures("tiny", "--rows", "mlp, gadc", "--columns", "noisy", "--runs", 2)
    assert {cell: entry["runs"] for cell, entry in found.items()} == {
        ("gadc", "noisy"): 2,
        ("mlp", "noisy"): 2,
    }
    assert len(Store(Path("results")).read("tiny")) == 4
    [fewer] = figures("tiny", "--rows", "mlp", "--columns", "noisy", "--runs", 1).values()
    assert (fewer["runs"], fewer["std"]) == (1, 0)  # only the first run, although two are stored


def test_fresh_sets_old_results_aside(tables, figures, run):
    first = figures("tiny", *MLP)
    old = Path("results/tiny.csv").read_bytes()
    code, out, err = run("reproduce", "tiny", *MLP, "--fresh", "--json")
    assert code == 0
    assert "tiny.old1.csv" in err
    assert Path("results/tiny.old1.csv").read_bytes() == old
    [again] = json.loads(out)
    assert again == first["mlp", "clean"]
    assert len(Store(Path("results")).read("tiny")) == 1


def test_figures_are_printed_beside_the_published_ones(tables, run):
    code, out, _ = run("reproduce", "tiny", "--rows", "gadc", "--columns", "clean")
    assert code == 0
    assert "90.00 ± 1.50" in out
    assert "✓" in out or "✗" in out


def test_a_failed_run_has_exit_code_1_and_prints_the_reason(tables, run):
    tables["tiny"] = tiny_table(runs=1, more_rows=(BROKEN,))
    code, out, err = run("reproduce", "tiny", "--rows", "broken,mlp", "--columns", "clean", "--json")
    assert code == 1
    found = {entry["row"]: entry for entry in json.loads(out)}
    assert (found["broken"]["runs"], found["broken"]["mean"]) == (0, None)
    assert found["mlp"]["runs"] == 1  # the other runs continue
    assert "failed tiny broken clean run 0" in err
    assert "got 'none'" in err
    _, out, _ = run("reproduce", "tiny", "--rows", "broken", "--columns", "clean")
    assert "0 (1 failed)" in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nowhere"], "name must be one of tiny, got 'nowhere'"),
        (["tiny", "--rows", "gat"], "--rows must be among gadc, mlp, paper, got 'gat'"),
        (["tiny", "--columns", "cora"], "--columns must be among clean, noisy, got 'cora'"),
        (["tiny", "--runs", "0"], "--runs"),
        (["tiny", "--jobs", "0"], "--jobs"),
    ],
    ids=["table", "row", "column", "runs", "jobs"],
)
def test_an_invalid_request_runs_nothing(tables, run, args, message):
    code, out, err = run("reproduce", *args)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert not out
    assert not Path("results").exists()


def test_an_invalid_request_keeps_old_results(tables, figures, run):
    figures("tiny", *MLP)
    assert "got 'gat'" in run("reproduce", "tiny", "--fresh", "--rows", "gat")[2]
    assert [path.name for path in Path("results").glob("*.csv")] == ["tiny.csv"]
