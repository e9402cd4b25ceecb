"""Failures of the system are one line and exit code 1, never a traceback."""

import errno
import subprocess
import sys

import pytest

from gadc._base.memory import MemoryLimitError
from gadc.cli import _fit
from gadc.cli._failures import describe_failure
from gadc.datasets import ChecksumError
from tests.helpers.full_disk import full_disk


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        (ValueError("fit: no"), "fit: no", 2),
        (MemoryLimitError("x needs 9 GB"), "x needs 9 GB", 2),
        (MemoryError(), "out of memory: the system gave no more", 1),
        (MemoryError("array of 9 GB"), "out of memory: array of 9 GB", 1),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "out of memory: DefaultCPU", 1),
        (PermissionError(errno.EACCES, "Permission denied", "/x/m"), "/x/m: Permission denied.", 1),
        (OSError(errno.ENOSPC, "No space left on device", "/x/m"), "/x/m: No space left on device; the", 1),
        (OSError("no network"), "no network", 1),
        (ImportError("typer is missing"), "typer is missing", 1),
        (ChecksumError("file", "a", "b"), "checksum: file", 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_describe_failure_names_the_reason(error, message, code):
    text, got = describe_failure(error)
    assert text.startswith(message)
    assert got == code
    assert "\n" not in text


def test_describe_failure_leaves_bugs_alone():
    assert describe_failure(RuntimeError("shapes do not match")) is None
    assert describe_failure(KeyError("x")) is None


def test_a_message_is_one_line():
    assert describe_failure(ValueError("two\nlines"))[0] == "two lines"


@pytest.mark.parametrize("error", [MemoryError(), PermissionError(13, "Permission denied", "/x")])
def test_a_failure_inside_a_command_has_exit_code_1(run, mine, tmp_path, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(_fit, "_models", fail)
    code, out, err = run("fit", *mine, "-o", tmp_path / "m")
    assert (code, out) == (1, "")
    assert err.splitlines()[-1].startswith("error: ")
    assert not (tmp_path / "m").exists()


def test_a_bug_keeps_its_traceback(run, mine, tmp_path, monkeypatch):
    monkeypatch.setattr(_fit, "_models", lambda *_: {}["bug"])
    with pytest.raises(KeyError, match="bug"):
        run("fit", *mine, "-o", tmp_path / "m")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("denoise",), "f.csv"),
        (("denoise",), "f.parquet"),
        (("edges", "--effects", "0"), "e.feather"),
        (("fit", "--variant", "plain", "--num-steps", "1"), "m.safetensors"),
    ],
)
def test_a_full_disk_is_one_line_and_leaves_nothing(run, mine, folder, words, name):
    before = sorted(folder.iterdir())
    with full_disk(500):
        code, out, err = run(*words, *mine, "-o", folder / name)
    assert (code, out) == (1, "")
    *_, last = err.splitlines()
    assert last.startswith("error: ")
    assert name in last
    assert "File too large" in last
    assert sorted(folder.iterdir()) == before


def test_problems_in_cells_are_told_before_torch_is_imported(folder):
    text = (folder / "people.csv").read_text().splitlines()
    text[3] = "p02,,0.1,oops,baker"
    (folder / "people.csv").write_text("\n".join(text) + "\n")
    script = """
import sys
from gadc.cli import main

for words in (["fit", "-o", "m"], ["denoise", "-o", "d.csv"], ["edges"], ["inspect"], ["data", "info"]):
    try:
        main([*words, "--edges", "friends.csv", "--nodes", "people.csv"])
    except SystemExit as stop:
        print(words[0], stop.code, "torch._C" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stderr.count("row 4, column 'arm': the cell is empty") == 5
    assert done.stderr.count("row 4, column 'ear': 'oops' is not a number") == 5
    assert done.stdout.splitlines() == [
        f"{name} 2 False" for name in ("fit", "denoise", "edges", "inspect", "data")
    ]
