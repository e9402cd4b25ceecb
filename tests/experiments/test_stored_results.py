"""The stored runs in results/: small, whole, and made with the present settings of the tables."""

import json

import pytest

from gadc.experiments import Store, load_table, table_names
from gadc.experiments._fingerprint import fingerprint
from gadc.experiments._result import HEADER
from gadc.experiments._run import settings_of
from tests.helpers.paths import ROOT

FOLDER = ROOT / "results"
STORE = Store(FOLDER)
STORED = sorted(path.stem for path in FOLDER.glob("*.csv"))


def _contents(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def test_stored_results_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 3_000_000


@pytest.mark.parametrize("name", ["settings.jsonl", "versions.jsonl"])
def test_stored_contents_are_there_once_and_have_their_hash(name):
    items = [item for line in _contents(name) for item in line.items()]
    assert len(dict(items)) == len(items)
    assert all(fingerprint(content) == key for key, content in items)


@pytest.mark.parametrize("name", STORED)
def test_stored_runs_can_all_be_read(name):
    header, *lines = (FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    assert header == HEADER
    assert len(STORE.read(name)) == len(lines)


@pytest.mark.parametrize("name", STORED)
def test_stored_runs_have_the_present_settings(name):
    """A renamed setting or row would turn them into runs that `gadc reproduce` ignores and repeats."""
    assert name in table_names()
    present = {
        (cell.row.name, cell.column.name): fingerprint(settings_of(cell)) for cell in load_table(name).cells()
    }
    stale = {
        (result.row, result.column)
        for result in STORE.read(name)
        if present.get((result.row, result.column)) != result.settings_hash
    }
    assert not stale


def test_stored_settings_are_all_used():
    used = {result.settings_hash for name in STORED for result in STORE.read(name)}
    assert {key for line in _contents("settings.jsonl") for key in line} == used
