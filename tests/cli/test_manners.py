"""Manners of the command line: quiet, verbose, threads, pipes, colours, completion, Ctrl-C."""

import io
import os
from pathlib import Path

import polars as pl
import pytest
import torch

from gadc.cli import _denoise, main
from gadc.cli._manners import _THREADS
from gadc.cli._options.output import refuse_pipe


@pytest.fixture
def denoise(run, mine):
    """Run `gadc [options] denoise` on the user's tables."""
    return lambda *words, before=(): run(*before, "denoise", *mine, *words)


def test_a_dash_prints_csv_alone_on_standard_output(denoise):
    code, out, err = denoise("-o", "-")
    assert code == 0
    frame = pl.read_csv(io.StringIO(out))
    assert (frame.columns[0], len(frame)) == ("person", 80)
    assert "denoised" in err


def test_a_dash_moves_json_to_standard_error(denoise):
    code, out, err = denoise("-o", "-", "--json", before=["--quiet"])
    assert code == 0
    assert len(out.splitlines()) == 81
    assert err.startswith("{")


def test_edges_print_csv(run, mine):
    code, out, err = run("edges", *mine, "--effects", 0, "-o", "-")
    assert code == 0
    assert "rank" in pl.read_csv(io.StringIO(out)).columns
    assert "The least trusted edges" in err


def test_a_dash_is_refused_for_a_packed_graph():
    with pytest.raises(ValueError, match="requires a graph in memory"):
        refuse_pipe(Path("-"))


def test_the_next_command_prints_on_standard_output_again(denoise, run, tmp_path):
    denoise("-o", "-")
    assert "denoised" in denoise("-o", tmp_path / "out.csv")[1]


def test_a_dash_escapes_formulas(denoise, folder):
    file = folder / "people.csv"
    file.write_text(file.read_text().replace("p00", "=p00"))
    (folder / "friends.csv").write_text((folder / "friends.csv").read_text().replace("p00", "=p00"))
    assert "\n'=p00," in denoise("-o", "-", "--escape-formulas")[1]


def test_quiet_leaves_out_notes_but_not_errors(denoise, tmp_path, monkeypatch):
    monkeypatch.setattr(_denoise, "tell_notes", lambda *_, **__: _denoise.say("note: something"))
    assert "note: something" in denoise("-o", tmp_path / "a.csv")[2]
    assert denoise("-o", tmp_path / "b.csv", before=["--quiet"])[2] == ""
    assert denoise("-o", tmp_path / "b.txt", before=["-q"])[2].startswith("error: --out must end in")


def test_verbose_shows_the_traceback_above_the_line(denoise, tmp_path):
    err = denoise("-o", tmp_path / "b.txt", before=["--verbose"])[2]
    assert err.startswith("Traceback")
    assert err.splitlines()[-1].startswith("error: --out must end in")


def test_quiet_and_verbose_exclude_each_other(run):
    code, _, err = run("--quiet", "--verbose", "data", "list")
    assert (code, err) == (2, "error: Use either --quiet or --verbose, not both.\n")


def test_threads_are_set_for_all_libraries(run, monkeypatch):
    for name in _THREADS:
        monkeypatch.setenv(name, "1")
    before = torch.get_num_threads()
    try:
        assert run("--threads", 3, "data", "list", "--json")[0] == 0
        assert torch.get_num_threads() == 3
        assert {os.environ[name] for name in _THREADS} == {"3"}
    finally:
        torch.set_num_threads(before)


def test_threads_must_be_positive(run):
    assert run("--threads", 0, "data", "list")[0] == 2


def test_no_color_leaves_out_all_codes(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in run("data", "info", "digits")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run("data", "info", "digits")[1]


def test_interrupting_is_one_line_and_exit_code_130(denoise, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(_denoise, "_diffuse", interrupt)
    code, out, err = denoise("-o", tmp_path / "x.csv", before=["--quiet"])
    assert (code, out) == (130, "")
    assert err.strip() == "interrupted: files that were not finished are not kept."
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.parametrize(
    ("words", "offered"),
    [("gadc den", "denoise"), ("gadc data ve", "verify"), ("gadc denoise --paper", "--paper-scale")],
)
def test_completion_knows_commands_and_their_options(capsys, monkeypatch, words, offered):
    monkeypatch.setenv("_GADC_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit):
        main([])
    assert offered in capsys.readouterr().out.split()


def test_the_completion_script_is_printed(capsys, monkeypatch):
    monkeypatch.setenv("_GADC_COMPLETE", "source_bash")
    with pytest.raises(SystemExit):
        main([])
    assert "_GADC_COMPLETE=complete_bash" in capsys.readouterr().out


def test_predict_prints_csv(run, mine, folder):
    assert run("fit", *mine, "--variant", "plain", "-o", folder / "m")[0] == 0
    code, out, err = run("predict", folder / "m", *mine, "--top", 3, "-o", "-")
    assert code == 0
    frame = pl.read_csv(io.StringIO(out))
    assert (frame.columns[:2], len(frame)) == (["person", "class"], 3)
    assert "predicted" in err


def test_quiet_does_not_hide_why_a_download_failed(run, tmp_path, monkeypatch):
    def no_network(*_, **__):
        raise OSError("no network")

    monkeypatch.setattr("gadc.datasets.named._sources.download", no_network)
    code, _, err = run("--quiet", "data", "get", "texas", "--data-dir", tmp_path)
    assert code == 1
    assert [line for line in err.splitlines() if "GADC_DATA" in line] == err.splitlines()[-1:]
