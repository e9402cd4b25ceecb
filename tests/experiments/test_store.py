"""Results on disk: only what a kill cut short is lost, and nothing old is overwritten."""

import json
import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from gadc.experiments import Store
from gadc.experiments import _store as module
from gadc.experiments._fingerprint import fingerprint
from gadc.experiments._result import HEADER
from tests.helpers.results import made_result


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "new")


@pytest.fixture
def writes(monkeypatch):
    """Every write to a file, by the name of the file, and every sync."""
    seen = []
    names = {}
    real = {name: getattr(os, name) for name in ("open", "write", "fsync")}

    def opened(path, *args):
        descriptor = real["open"](path, *args)
        names[descriptor] = path.name
        return descriptor

    def written(descriptor, content):
        seen.append((names[descriptor], content))
        return real["write"](descriptor, content)

    def synced(descriptor):
        seen.append((names[descriptor], "synced"))
        real["fsync"](descriptor)

    for name, spy in (("open", opened), ("write", written), ("fsync", synced)):
        monkeypatch.setattr(module.os, name, spy)
    return seen


def test_store_reads_what_was_appended(store):
    stored = [made_result(run, settings={"model": f"m{run % 2}"}) for run in range(3)]
    stored.append(made_result(3, test=None, error='Φ is 0/0, "quoted"'))
    for result in stored:
        store.append(result)
    assert store.read("table") == stored
    assert Store(store.folder).read("table") == stored


def test_store_keeps_tables_apart(store):
    first, second = made_result(), made_result(table="other")
    store.append(first)
    store.append(second)
    assert (store.read("table"), store.read("other")) == ([first], [second])


def test_store_writes_settings_once_and_before_the_run(store, writes):
    """A kill between two writes must not leave half a line, nor a run without its settings."""
    first, second = made_result(0), made_result(1)
    store.append(first)
    files = [name for name, _ in writes]
    assert files == [name for name in ("settings.jsonl", "versions.jsonl", "table.csv") for _ in range(2)]
    assert json.loads(writes[0][1]) == {first.settings_hash: first.settings}
    assert json.loads(writes[2][1]) == {fingerprint(first.versions): first.versions}
    assert [content for _, content in writes[1::2]] == ["synced"] * 3
    writes.clear()
    store.append(second)
    [(name, line), synced] = writes
    assert (name, synced) == ("table.csv", ("table.csv", "synced"))
    assert line.endswith(b"\n")
    assert store.runs_file("table").read_bytes().endswith(line)


def test_store_finds_settings_of_another_process(store, writes):
    store.append(made_result(0))
    writes.clear()
    Store(store.folder).append(made_result(1))
    assert {name for name, _ in writes} == {"table.csv"}


def test_store_raises_when_a_line_is_written_in_part(store, monkeypatch):
    monkeypatch.setattr(module.os, "write", lambda descriptor, content: len(content) - 1)
    with pytest.raises(OSError, match="disk is full"):
        store.append(made_result())


def test_runs_file_starts_with_the_header(store):
    store.append(made_result())
    assert store.runs_file("table").read_text().splitlines()[0] == HEADER


def test_store_takes_lines_of_several_threads(store):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda run: Store(store.folder).append(made_result(run, error="x" * 2000)), range(40)))
    assert sorted(result.run for result in store.read("table")) == list(range(40))


def _append_runs(folder, runs):
    for run in runs:
        Store(folder).append(made_result(run, settings={"model": f"m{run}"}))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the children only write lines
def test_store_takes_lines_of_two_processes(store):
    context = multiprocessing.get_context("fork")
    halves = [context.Process(target=_append_runs, args=(store.folder, range(s, 60, 2))) for s in (0, 1)]
    for process in halves:
        process.start()
    for process in halves:
        process.join()
    found = store.read("table")
    assert sorted(result.run for result in found) == list(range(60))
    assert all(result.settings == {"model": f"m{result.run}"} for result in found)


def test_store_loses_only_a_run_that_was_cut_short(store):
    """Wherever the cut is, also inside a character of several bytes."""
    first, torn, new = made_result(0), made_result(1, test=None, error="Φ is 0/0"), made_result(2)
    store.append(first)
    file = store.runs_file("table")
    start = file.stat().st_size
    store.append(torn)
    whole = file.read_bytes()
    for cut in range(start, len(whole)):
        file.write_bytes(whole[:cut])
        for expected in ([first], [first, new]):
            found = store.read("table")
            assert [result for result in found if result.ok] == expected
            assert {result.run for result in found} <= {0, 1, 2}
            store.append(new)


def test_store_repeats_settings_that_were_cut_short(store):
    """Wherever the cut is, the run that follows can be read."""
    result = made_result(settings={"model": "φ"})
    store.append(result)
    file = store.folder / "settings.jsonl"
    whole = file.read_bytes()
    for cut in range(len(whole)):
        file.write_bytes(whole[:cut])
        store.runs_file("table").unlink()
        again = Store(store.folder)
        again.append(result)
        assert again.read("table") == [result]


def test_store_leaves_out_a_run_without_its_settings(store):
    store.append(made_result())
    (store.folder / "settings.jsonl").unlink()
    assert Store(store.folder).read("table") == []


def test_store_reads_the_last_line_of_a_run(store):
    results = [
        made_result(0, test=None, error="no"),
        made_result(0),
        made_result(1),
        made_result(0, settings={"model": "other"}),
        made_result(0, row="mlp"),
        made_result(0, column="pubmed"),
    ]
    for result in results:
        store.append(result)
    assert store.read("table") == results[1:]


def test_store_without_a_folder_is_empty(store):
    assert store.read("table") == []


def test_put_aside_never_overwrites(store):
    assert store.put_aside("table") is None
    places = []
    for run in range(3):
        store.append(made_result(run))
        places.append(store.put_aside("table"))
        assert not store.runs_file("table").exists()
    assert [place.name for place in places] == ["table.old1.csv", "table.old2.csv", "table.old3.csv"]
    assert [store.read(place.stem) for place in places] == [
        [made_result(run, table=place.stem)] for run, place in enumerate(places)
    ]
