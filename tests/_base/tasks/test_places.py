"""Files here, by a file:// URL, or on another file system of fsspec."""

import fsspec
import pytest

from gadc._base.tasks import (
    is_remote,
    join_place,
    local_copy,
    place_exists,
    place_of,
    write_note,
    write_whole,
)


@pytest.fixture(autouse=True)
def _own_places(tmp_path, monkeypatch):
    monkeypatch.setenv("GADC_CACHE", str(tmp_path / "cache"))
    system = fsspec.filesystem("memory")
    yield
    system.rm("/", recursive=True)


@pytest.fixture(params=["local", "file", "memory"])
def folder(request, tmp_path):
    return {"local": str(tmp_path), "file": f"file://{tmp_path}", "memory": "memory://run"}[request.param]


def test_a_file_is_written_and_read_wherever_it_lies(folder):
    place = join_place(place_of(folder), "a/note.json")
    assert not place_exists(place)
    write_note(place, {"a": 1})
    assert place_exists(place)
    assert local_copy(place).read_text() == '{\n "a": 1\n}'


def test_a_copy_is_fetched_again_when_the_file_has_changed():
    place = "memory://run/text"
    write_whole(place, lambda file: file.write_text("old"))
    first = local_copy(place)
    assert local_copy(place) == first
    write_whole(place, lambda file: file.write_text("newer"))
    assert local_copy(place).read_text() == "newer"


def test_a_failed_writer_leaves_nothing_elsewhere(tmp_path):
    def half(file):
        file.write_text("half")
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        write_whole("memory://run/text", half)
    assert not place_exists("memory://run/text")
    assert list((tmp_path / "cache" / "places").iterdir()) == []


def test_local_copy_names_a_missing_file():
    with pytest.raises(FileNotFoundError, match="memory://run/none"):
        local_copy("memory://run/none")


def test_file_urls_are_local():
    assert not is_remote("file:///shared/run")
    assert is_remote("s3://bucket/run")
