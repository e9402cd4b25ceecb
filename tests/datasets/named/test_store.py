"""Arrays in the cache: damaged, interrupted, shared by two processes."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from gadc.datasets.named import _store as store

SOURCES = {"file": "0" * 64}


def arrays():
    return {
        "edges": np.arange(10).reshape(2, 5),
        "y": np.array([0, 1, -1]),
        "none": np.empty((2, 0), dtype=int),
    }


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache" / "tiny"


class Builder:
    """Build arrays and count the calls."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return arrays()


def same(found):
    return found.keys() == arrays().keys() and all((found[k] == v).all() for k, v in arrays().items())


def test_arrays_are_built_once_and_then_mapped(folder):
    build = Builder()
    assert same(store.cached(folder, SOURCES, build))
    found = store.cached(folder, SOURCES, build)
    assert same(found)
    assert build.calls == 1
    assert isinstance(found["edges"], np.memmap)


def test_changes_of_arrays_do_not_reach_the_disk(folder):
    build = Builder()
    store.cached(folder, SOURCES, build)
    store.cached(folder, SOURCES, build)["edges"][:] = 99
    assert same(store.cached(folder, SOURCES, build))
    assert build.calls == 1


def flip_a_byte(folder):
    file = folder / "edges.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def truncate(folder):
    file = folder / "edges.npy"
    file.write_bytes(file.read_bytes()[:-8])


def drop_an_array(folder):
    (folder / "y.npy").unlink()


def break_manifest(folder):
    (folder / "manifest.json").write_text("{")


def empty_manifest(folder):
    (folder / "manifest.json").write_text("[]")


def older_format(folder):
    file = folder / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 0}))


@pytest.mark.parametrize(
    "harm", [flip_a_byte, truncate, drop_an_array, break_manifest, empty_manifest, older_format]
)
def test_damaged_arrays_are_built_again(folder, harm):
    build = Builder()
    store.cached(folder, SOURCES, build)
    harm(folder)
    assert same(store.cached(folder, SOURCES, build))
    assert same(store.cached(folder, SOURCES, build))
    assert build.calls == 2


def test_arrays_of_other_sources_are_built_again(folder):
    build = Builder()
    store.cached(folder, SOURCES, build)
    store.cached(folder, {"file": "1" * 64}, build)
    assert build.calls == 2


def test_interrupted_write_leaves_nothing_behind(folder, monkeypatch):
    save, saved = np.save, []

    def interrupted(file, array, **options):
        if saved:
            raise KeyboardInterrupt
        saved.append(file)
        save(file, array, **options)

    build = Builder()
    with monkeypatch.context() as patch:
        patch.setattr(np, "save", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.cached(folder, SOURCES, build)
    assert saved
    assert not folder.exists()
    assert same(store.cached(folder, SOURCES, build))
    assert build.calls == 2
    assert sorted(file.name for file in folder.parent.iterdir() if file.is_dir()) == ["tiny"]


def test_full_disk_is_a_warning(folder, monkeypatch):
    def full(*args, **options):
        raise OSError("no space left")

    monkeypatch.setattr(np, "save", full)
    with pytest.warns(UserWarning, match="no space left"):
        assert same(store.cached(folder, SOURCES, Builder()))


def test_folder_that_cannot_be_written_is_a_warning(tmp_path):
    (tmp_path / "file").touch()
    with pytest.warns(UserWarning, match="could not be cached"):
        assert same(store.cached(tmp_path / "file" / "tiny", SOURCES, Builder()))


def test_failed_build_releases_the_lock(folder):
    def fails():
        raise ValueError("bad file")

    with pytest.raises(ValueError, match="bad file"):
        store.cached(folder, SOURCES, fails)
    assert same(store.cached(folder, SOURCES, Builder()))


def test_two_processes_read_sound_arrays(folder):
    """Both processes build, read and damage one folder."""
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        import numpy as np
        from gadc.datasets.named._store import cached
        folder = Path(sys.argv[1])
        expected = np.arange(50_000)
        for turn in range(24):
            if turn % 4 == 0:
                (folder / "manifest.json").unlink(missing_ok=True)
            found = cached(folder, {}, lambda: {"a": np.arange(50_000), "b": np.arange(50_000)})
            assert (found["a"] == expected).all() and (found["b"] == expected).all()
        """
    )
    command = [sys.executable, "-c", script, str(folder)]
    runs = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    errors = [run.communicate()[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], errors
    assert [file.name for file in folder.parent.iterdir() if file.is_dir()] == ["tiny"]
