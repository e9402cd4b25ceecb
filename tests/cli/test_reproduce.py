"""`gadc reproduce` and `gadc report`, run as a user runs them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gadc.cli import _reproduction as reproduction
from gadc.cli import app, main
from gadc.experiments import Store, load_table, table_names
from tests.helpers.tiny import BROKEN, tiny_table

KEYS = ["table", "row", "column", "runs", "mean", "std", "paper_mean", "paper_std"]


@pytest.fixture
def tables(monkeypatch, tmp_path):
    """The only tables there are, by name; a test may change them."""
    known = {"tiny": tiny_table(runs=1)}

    def load(name):
        if name not in known:
            raise ValueError(f"load_table: name must be one of {', '.join(known)}, got {name!r}.")
        return known[name]

    monkeypatch.setattr(reproduction, "load_table", load)
    monkeypatch.setattr(reproduction, "table_names", lambda: sorted(known))
    monkeypatch.chdir(tmp_path)
    return known


def _invoke(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args], catch_exceptions=False)


def _figures(*args):
    done = _invoke("reproduce", *args, "--json")
    assert done.exit_code == 0, done.stderr
    return {(entry["row"], entry["column"]): entry for entry in json.loads(done.stdout)}


def test_list_names_every_table():
    done = _invoke("reproduce", "list", "--json")
    listed = {entry["table"]: entry for entry in json.loads(done.stdout)}
    assert done.exit_code == 0
    assert list(listed) == table_names()
    assert listed["metattack"]["source"] == "Table 1"
    assert listed["metattack"]["runs"] == 10
    assert "gadc-iv" in listed["metattack"]["rows"]
    assert "gcn-svd" not in listed["metattack"]["rows"] or load_table("metattack").row("gcn-svd").model
    assert "cora-0.25" in listed["metattack"]["columns"]


def test_list_for_a_reader(tables):
    done = _invoke("reproduce", "list")
    assert done.exit_code == 0
    assert "tiny" in done.stdout
    assert "gadc, mlp" in done.stdout


def test_json_has_the_fixed_keys_and_nothing_else(tables):
    done = _invoke("reproduce", "tiny", "--json")
    entries = json.loads(done.stdout)
    assert done.exit_code == 0
    assert [list(entry) for entry in entries] == [KEYS] * 5
    places = [(entry["row"], entry["column"]) for entry in entries]
    assert places == [
        *((row, column) for row in ("gadc", "mlp") for column in ("clean", "noisy")),
        ("paper", "clean"),
    ]
    gadc, mlp, paper = entries[0], entries[2], entries[4]
    assert (gadc["table"], gadc["runs"], gadc["paper_mean"], gadc["paper_std"]) == ("tiny", 1, 90.0, 1.5)
    assert 0 < gadc["mean"] <= 100
    assert gadc["std"] == 0
    assert (mlp["paper_mean"], mlp["paper_std"]) == (None, None)
    assert (paper["runs"], paper["mean"], paper["std"], paper["paper_std"]) == (0, None, None, None)


def test_results_go_to_the_folder_and_are_not_done_again(tables):
    first = _figures("tiny", "--out", "here")
    content = {path.name: path.read_bytes() for path in Path("here").iterdir()}
    assert set(content) == {"settings.jsonl", "tiny.csv", "versions.jsonl"}
    assert _figures("tiny", "--out", "here") == first
    assert {path.name: path.read_bytes() for path in Path("here").iterdir()} == content


def test_default_folder_and_all_tables(tables):
    tables["other"] = tiny_table(name="other", runs=1)
    done = _invoke("reproduce", "--columns", "clean", "--rows", "mlp", "--json")
    assert [entry["table"] for entry in json.loads(done.stdout)] == ["other", "tiny"]
    assert sorted(path.name for path in Path("results").glob("*.csv")) == ["other.csv", "tiny.csv"]


def test_choice_of_rows_columns_and_runs(tables):
    figures = _figures("tiny", "--rows", "mlp, gadc", "--columns", "noisy", "--runs", 2)
    assert {place: entry["runs"] for place, entry in figures.items()} == {
        ("gadc", "noisy"): 2,
        ("mlp", "noisy"): 2,
    }
    assert len(Store(Path("results")).read("tiny")) == 4
    [fewer] = _figures("tiny", "--rows", "mlp", "--columns", "noisy", "--runs", 1).values()
    assert (fewer["runs"], fewer["std"]) == (1, 0)  # the first run alone, though two are stored


def test_fresh_puts_old_results_aside(tables):
    first = _figures("tiny", "--rows", "mlp", "--columns", "clean")
    old = Path("results/tiny.csv").read_bytes()
    done = _invoke("reproduce", "tiny", "--rows", "mlp", "--columns", "clean", "--fresh", "--json")
    assert "tiny.old1.csv" in done.stderr.replace("\n", "")
    assert Path("results/tiny.old1.csv").read_bytes() == old
    [again] = json.loads(done.stdout)
    assert again == first["mlp", "clean"]
    assert len(Store(Path("results")).read("tiny")) == 1


def test_figures_for_a_reader(tables):
    done = _invoke("reproduce", "tiny", "--rows", "gadc", "--columns", "clean")
    assert done.exit_code == 0
    assert "90.00 ± 1.50" in done.stdout
    assert "✓" in done.stdout or "✗" in done.stdout


def test_a_failed_run_gives_exit_code_1_and_its_reason(tables):
    tables["tiny"] = tiny_table(runs=1, more_rows=(BROKEN,))
    done = _invoke("reproduce", "tiny", "--rows", "broken,mlp", "--columns", "clean", "--json")
    assert done.exit_code == 1
    figures = {entry["row"]: entry for entry in json.loads(done.stdout)}
    assert (figures["broken"]["runs"], figures["broken"]["mean"]) == (0, None)
    assert figures["mlp"]["runs"] == 1  # the rest went on
    message = " ".join(done.stderr.split())
    assert "failed tiny broken clean run 0" in message
    assert "got 'none'" in message
    shown = _invoke("reproduce", "tiny", "--rows", "broken", "--columns", "clean")
    assert "0 (1 failed)" in shown.stdout


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
def test_what_makes_no_sense_is_one_line_and_exit_code_2(tables, capsys, args, message):
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", *args])
    out, err = capsys.readouterr()
    assert stop.value.code == 2
    assert message in err
    assert "Traceback" not in err
    assert not out
    assert not Path("results").exists()


def test_a_request_without_sense_leaves_old_results_alone(tables, capsys):
    _figures("tiny", "--rows", "mlp", "--columns", "clean")
    with pytest.raises(SystemExit):
        main(["reproduce", "tiny", "--fresh", "--rows", "gat"])
    assert "got 'gat'" in capsys.readouterr().err
    assert [path.name for path in Path("results").glob("*.csv")] == ["tiny.csv"]


def test_report_writes_three_files(tables):
    figure = _figures("tiny")["gadc", "clean"]
    done = _invoke("report", "results")
    assert done.exit_code == 0
    files = {path.name: path.read_text(encoding="utf-8") for path in Path("results/report").glob("report.*")}
    assert set(files) == {"report.md", "report.tex", "report.html"}
    for name, text in files.items():
        assert f"{figure['mean']:.1f}" in text, name
        assert "90.0" in text, name
        assert name in done.stderr.replace("\n", "")


def test_report_to_another_folder_with_a_page(tables):
    [figure] = _figures("tiny", "--rows", "gadc", "--columns", "clean").values()
    done = _invoke("report", "results", "--out", "elsewhere", "--docs", "page.md")
    assert done.exit_code == 0
    assert Path("elsewhere/report.md").exists()
    assert not Path("results/report").exists()
    page = Path("page.md").read_text(encoding="utf-8")
    assert page.startswith("# Reproduction")
    assert f"{figure['mean']:.1f}" in page


def test_report_of_no_folder(tables, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["report", "nowhere"])
    assert stop.value.code == 2
    assert "folder must be a folder of results, got 'nowhere'" in capsys.readouterr().err
