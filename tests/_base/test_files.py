"""Files are replaced whole or not at all, and temporaries of killed processes are removed."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gadc._base import files
from gadc._base.files import cache_folder, move_into_place, remove_stale, replacing, write_bytes, write_text

# The module is run by its path: importing the package would load torch in the process.
KILLED_WHILE_WRITING = """
import os, runpy, signal, sys
replacing = runpy.run_path(sys.argv[1])["replacing"]
with replacing(sys.argv[2]) as temporary:
    temporary.write_text("half")
    print(temporary.name, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "table [1].csv"  # brackets mean something to glob
    path.write_text("old")
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def killed_process_number():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def temporary_of(target, process):
    """Make a temporary of the target that belongs to a process with this number."""
    with replacing(target) as own:
        name = own.name.replace(f"-{os.getpid()}-", f"-{process}-")
        own.write_text(target.read_text())
    path = target.with_name(name)
    path.write_text("half")
    return path


def test_replacing_renames_the_temporary_at_the_end(target):
    with replacing(target) as temporary:
        temporary.write_text("new")
        assert temporary.parent == target.parent
        assert re.fullmatch(
            rf"\.table \[1\]\.csv\.[0-9a-f]{{8}}-{os.getpid()}-[0-9a-f]+\.gadc-tmp", temporary.name
        )
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert names(target.parent) == [target.name]


def test_replacing_accepts_text_and_creates_a_missing_target(tmp_path):
    with replacing(str(tmp_path / "new.txt")) as temporary:
        temporary.write_text("content")
    assert (tmp_path / "new.txt").read_text() == "content"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("begun", [True, False])
def test_replacing_keeps_the_old_file_when_the_block_raises(target, error, begun):
    with pytest.raises(error), replacing(target) as temporary:  # noqa: PT012  the block is what is tested
        if begun:
            temporary.write_text("half")
        raise error
    assert target.read_text() == "old"
    assert names(target.parent) == [target.name]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_replacing_keeps_the_old_file_when_the_disk_fails(target, monkeypatch, step):
    def full_disk(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, step, full_disk)
    with pytest.raises(OSError, match="disk full"):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert names(target.parent) == [target.name]


def test_content_reaches_the_disk_before_the_rename(target, monkeypatch):
    order = []
    for step in ("fsync", "replace"):
        original = getattr(os, step)
        monkeypatch.setattr(os, step, lambda *args, s=step, f=original: (order.append(s), f(*args))[1])
    write_text(target, "new")
    assert order == ["fsync", "replace"]


def test_replacing_without_a_folder_names_the_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        write_text(tmp_path / "missing" / "file", "new")


def test_replacing_raises_when_the_block_wrote_nothing(target):
    with pytest.raises(FileNotFoundError), replacing(target):
        pass
    assert target.read_text() == "old"


def test_write_functions_store_the_content(target):
    write_text(target, "ε\n")
    assert target.read_bytes() == "ε\n".encode()
    write_bytes(target, b"\x00\xff")
    assert target.read_bytes() == b"\x00\xff"


def test_replacing_a_folder_replaces_all_of_it(tmp_path):
    folder = tmp_path / "cache"
    for content in ({"a": "1", "b": "2"}, {"b": "3"}):
        with replacing(folder) as temporary:
            temporary.mkdir()
            for name, text in content.items():
                (temporary / name).write_text(text)
        assert {file.name: file.read_text() for file in folder.iterdir()} == content
    with pytest.raises(KeyboardInterrupt), replacing(folder) as temporary:  # noqa: PT012
        temporary.mkdir()
        (temporary / "b").write_text("half")
        raise KeyboardInterrupt
    assert (folder / "b").read_text() == "3"
    assert names(tmp_path) == ["cache"]


def test_move_into_place_renames_a_finished_file(tmp_path, target):
    finished = tmp_path / "finished"
    finished.write_text("new")
    move_into_place(finished, target)
    assert target.read_text() == "new"
    assert not finished.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_write_keeps_the_old_file_and_the_next_write_cleans_up(target):
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, files.__file__, str(target)]
    killed = subprocess.run(command, check=False, capture_output=True, text=True)
    assert killed.returncode < 0
    assert target.read_text() == "old"
    assert names(target.parent) == sorted([target.name, killed.stdout.strip()])
    write_text(target, "new")
    assert target.read_text() == "new"
    assert names(target.parent) == [target.name]


@pytest.mark.skipif(sys.platform == "win32", reason="processes are not asked for there")
def test_remove_stale_keeps_what_is_still_being_written(target):
    live = [temporary_of(target, os.getpid()), temporary_of(target, os.getppid())]
    stale = temporary_of(target, killed_process_number())
    folder = temporary_of(target, killed_process_number())
    folder.unlink()
    folder.mkdir()
    (folder / "part").write_text("half")
    remove_stale(target)
    assert all(path.exists() for path in live)
    assert not stale.exists()
    assert not folder.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="processes are not asked for there")
def test_remove_stale_removes_those_of_an_earlier_process_with_the_same_number(target):
    own = temporary_of(target, os.getpid())
    earlier = own.with_name(own.name.replace(files._PROCESS, "0" * 8))
    earlier.write_text("half")
    remove_stale(target)
    assert own.exists()
    assert not earlier.exists()


def test_remove_stale_removes_those_of_another_host_after_a_week(target, monkeypatch):
    monkeypatch.setattr(files.platform, "node", lambda: "another")
    new, old = temporary_of(target, 1), temporary_of(target, 1)
    monkeypatch.undo()
    os.utime(old, (time.time() - 8 * 24 * 3600,) * 2)
    remove_stale(target)
    assert new.exists()
    assert not old.exists()


def test_remove_stale_keeps_temporaries_of_other_targets_and_hosts(target, monkeypatch):
    process = killed_process_number()
    other = temporary_of(target, process)
    other = other.rename(other.with_name(other.name.replace(".table", ".other")))
    monkeypatch.setattr(files.platform, "node", lambda: "another")
    foreign = temporary_of(target, process)
    monkeypatch.undo()
    similar = target.with_name(f".{target.name}.notes.gadc-tmp")
    similar.write_text("mine")
    remove_stale(target)
    assert all(path.exists() for path in (target, other, foreign, similar))


@pytest.mark.skipif(sys.platform == "win32", reason="processes are not asked for there")
def test_a_stale_temporary_that_cannot_be_removed_does_not_stop_the_write(target, monkeypatch):
    stale, unlink = temporary_of(target, killed_process_number()), Path.unlink

    def denied(path, *args, **options):
        if path == stale:
            raise PermissionError("not yours")
        unlink(path, *args, **options)

    monkeypatch.setattr(Path, "unlink", denied)
    write_text(target, "new")
    assert target.read_text() == "new"
    assert stale.exists()


def test_cache_folder_without_a_home_says_what_to_set(monkeypatch):
    def nobody(_):
        raise KeyError("no such user")

    for name in ("GADC_CACHE", "HOME", "USERPROFILE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pytest.importorskip("pwd"), "getpwuid", nobody)
    with pytest.raises(OSError, match="no home folder for a cache; set GADC_CACHE"):
        cache_folder()


def test_remove_stale_accepts_a_missing_folder(tmp_path):
    remove_stale(tmp_path / "missing" / "file")
    assert not list(tmp_path.iterdir())


def test_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("GADC_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv("GADC_CACHE", "~/cache")
    assert cache_folder() == Path.home() / "cache"
    monkeypatch.delenv("GADC_CACHE")
    assert "gadc" in cache_folder().parts
