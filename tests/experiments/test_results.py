"""Results on disk: nothing is lost but what a kill cut short, nothing old is overwritten."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from gadc.experiments import _results as results
from gadc.experiments._results import append_result, derive_seed, fingerprint, put_aside, read_results


def _result(run, **more):
    return {"row": "gadc", "column": "cora", "run": run, "settings_hash": "h", **more}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "new" / "table.jsonl"


def test_what_was_appended_is_read(file):
    stored = [_result(run, test=80.0 + run, error='Φ is 0/0\n"quoted"') for run in range(3)]
    for result in stored:
        append_result(file, result)
    assert read_results(file) == stored


def test_a_line_is_written_at_once(file, monkeypatch):
    """A kill between two writes would leave half a line."""
    written = []
    write = os.write

    def spy(descriptor, content):
        written.append(content)
        return write(descriptor, content)

    monkeypatch.setattr(results.os, "write", spy)
    append_result(file, _result(0))
    assert written == [file.read_bytes()]
    assert json.loads(written[0]) == _result(0)
    assert written[0].endswith(b"\n")


def test_lines_of_several_writers_do_not_mix(file):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda run: append_result(file, _result(run, filler="x" * 2000)), range(40)))
    assert sorted(result["run"] for result in read_results(file)) == list(range(40))
    assert sum(map(bool, file.read_text().splitlines())) == 40  # an empty line in between would do no harm


def test_a_torn_last_line_costs_only_that_run(file):
    """Wherever the cut is, also inside a letter of several bytes."""
    first, torn, new = _result(0), _result(1, error="Φ is 0/0"), _result(2)
    append_result(file, first)
    start = file.stat().st_size
    append_result(file, torn)
    whole = file.read_bytes()
    for cut in range(start, len(whole)):
        file.write_bytes(whole[:cut])
        complete = [torn] if cut == len(whole) - 1 else []  # only the line feed is missing
        assert read_results(file) == [first, *complete]
        append_result(file, new)
        assert read_results(file) == [first, *complete, new]


def test_the_last_line_of_a_run_counts(file):
    lines = [
        _result(0, status="failed"),
        _result(0, status="ok"),
        _result(1, status="ok"),
        {**_result(0), "settings_hash": "other"},
        {**_result(0), "row": "mlp"},
        {**_result(0), "column": "pubmed"},
    ]
    for line in lines:
        append_result(file, line)
    assert read_results(file) == lines[1:]


def test_what_is_no_result_is_left_out(file):
    append_result(file, _result(0))
    with file.open("a") as opened:
        opened.write('[1, 2]\n"text"\n{"row": "gadc"}\n\n')
    assert read_results(file) == [_result(0)]


def test_no_file_no_results(file):
    assert read_results(file) == []


def test_put_aside_never_overwrites(file):
    assert put_aside(file) is None
    places = []
    for run in range(3):
        append_result(file, _result(run))
        places.append(put_aside(file))
        assert not file.exists()
    assert [read_results(place) for place in places] == [[_result(run)] for run in range(3)]


def test_seed_is_the_same_everywhere():
    """A golden value: stored results are only repeatable while it stands."""
    assert derive_seed("metattack", "gadc-iv", "cora-0.25", 5) == 1922219947


def test_seed_depends_on_all_parts():
    parts = ("table", "row", "column", 0)
    seeds = [derive_seed(*parts)]
    for place, other in enumerate(("table2", "row2", "column2", 1)):
        seeds.append(derive_seed(*parts[:place], other, *parts[place + 1 :]))
    seeds.append(derive_seed("row", "table", "column", 0))
    seeds.append(derive_seed(*parts, 0))
    assert len(set(seeds)) == len(seeds)


def test_seeds_suit_every_generator():
    seeds = [derive_seed("t", run) for run in range(1000)]
    assert len(set(seeds)) == len(seeds)
    assert min(seeds) >= 0
    assert 2**30 < max(seeds) < 2**31


def test_fingerprint_changes_with_any_setting():
    settings = {"model": "gadc", "settings": {"lam": 1.0, "eps": 2}, "corruption": [{"level": 0.1}, {}]}
    others = [
        {**settings, "model": "mlp"},
        {**settings, "settings": {"lam": 1.5, "eps": 2}},
        {**settings, "settings": {"lam": 1.0}},
        {**settings, "settings": {"lam": 1.0, "eps": 2, "norm": "rw"}},
        {**settings, "corruption": [{"level": 0.2}, {}]},
        {**settings, "corruption": [{}, {"level": 0.1}]},
        {**settings, "corruption": []},
    ]
    assert len({fingerprint(content) for content in [settings, *others]}) == 1 + len(others)


def test_fingerprint_does_not_depend_on_the_order_of_keys():
    assert fingerprint({"a": 1, "b": {"c": 2, "d": 3}}) == fingerprint({"b": {"d": 3, "c": 2}, "a": 1})
