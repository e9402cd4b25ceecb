"""Tables of a user, and fixtures that run commands on them."""

import json
from shutil import copytree

import numpy as np
import pytest

from gadc.cli import main
from tests.helpers.estimators import restrict_auto
from tests.helpers.tiny import tiny_table


@pytest.fixture
def run(capsys):
    """Run a command and return its exit code, output and errors."""

    def run(*args):
        with pytest.raises(SystemExit) as stop:
            main([str(arg) for arg in args])
        return stop.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def run_json(run):
    """Run a command that must succeed and return the JSON it prints."""

    def run_json(*args):
        code, out, err = run(*args, "--json")
        assert code == 0, err
        return json.loads(out)

    return run_json


@pytest.fixture(scope="session")
def people(tmp_path_factory):
    """Write two tables: 80 people of two trades who mostly know their own; half of the trades are known."""
    folder = tmp_path_factory.mktemp("people")
    rng = np.random.default_rng(0)
    trade = np.arange(80) % 2
    skill = rng.normal(0, 0.6, (80, 3)) + np.where(trade, 1.0, -1.0)[:, None]
    pairs = rng.integers(80, size=(400, 2))
    kept = [(u, v) for u, v in pairs if u != v and (trade[u] == trade[v] or rng.random() < 0.1)]
    names = np.array(["baker", "smith"])[trade]
    nodes = [
        f"p{i:02},{a:.3f},{b:.3f},{c:.3f},{names[i] if i < 40 else ''}" for i, (a, b, c) in enumerate(skill)
    ]
    (folder / "people.csv").write_text("\n".join(["person,arm,eye,ear,trade", *nodes]) + "\n")
    edges = [f"p{u:02},p{v:02}" for u, v in kept]
    (folder / "friends.csv").write_text("\n".join(["who,whom", *edges]) + "\n")
    truth = [f"p{i:02},{name}" for i, name in enumerate(names)]
    (folder / "truth.csv").write_text("\n".join(["person,trade", *truth]) + "\n")
    return folder


@pytest.fixture
def folder(people, tmp_path):
    """Copy these tables to a folder that a test may change."""
    return copytree(people, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def mine(folder):
    """Return the options that name these tables."""
    return ("--edges", folder / "friends.csv", "--nodes", folder / "people.csv", "--label", "trade")


@pytest.fixture
def tables(monkeypatch, tmp_path):
    """Replace the tables of the paper by a tiny one; a test may add more by name."""
    known = {"tiny": tiny_table(runs=1)}

    def load(name):
        if name not in known:
            raise ValueError(f"load_table: name must be one of {', '.join(known)}, got {name!r}.")
        return known[name]

    monkeypatch.setattr("gadc.experiments.load_table", load)
    monkeypatch.setattr("gadc.experiments.table_names", lambda: sorted(known))
    monkeypatch.chdir(tmp_path)
    return known


@pytest.fixture(autouse=True)
def _few_families(monkeypatch):
    """Make the classifier's default variant quick."""
    restrict_auto(monkeypatch)
