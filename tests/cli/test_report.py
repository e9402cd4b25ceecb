"""`gadc report`, run as a user runs it."""

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")


def test_report_writes_three_files(tables, run_json, run):
    figure = run_json("reproduce", "tiny")[0]
    code, _, err = run("report", "results")
    assert code == 0
    files = {path.name: path.read_text(encoding="utf-8") for path in Path("results/report").glob("report.*")}
    assert set(files) == {"report.md", "report.tex", "report.html"}
    for name, text in files.items():
        assert f"{figure['mean']:.1f}" in text, name
        assert "90.0" in text, name
        assert name in err


def test_report_writes_a_page_and_another_folder(tables, run_json, run):
    [figure] = run_json("reproduce", "tiny", "--rows", "gadc", "--columns", "clean")
    code, _, _ = run("report", "results", "--out", "elsewhere", "--docs", "page.md")
    assert code == 0
    assert Path("elsewhere/report.md").exists()
    assert not Path("results/report").exists()
    page = Path("page.md").read_text(encoding="utf-8")
    assert page.startswith("# Reproduction")
    assert f"{figure['mean']:.1f}" in page


def test_report_refuses_a_missing_folder(tables, run):
    code, _, err = run("report", "nowhere")
    assert code == 2
    assert "folder must be a folder of results, got 'nowhere'" in err
