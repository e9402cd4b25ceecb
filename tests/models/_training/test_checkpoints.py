"""An interrupted training that is taken up ends as one that was not interrupted, to the last bit."""

from contextlib import suppress

import pytest
import torch
from torch import nn

from gadc._base import persistence
from gadc.experiments import _run as run_module
from gadc.experiments._run import run_once
from gadc.models import make_model
from gadc.models._training import checkpoints
from gadc.models._training.checkpoints import resumable
from gadc.models._training.heads import MLP
from gadc.models._training.loop import SELECTIONS, Training, train
from gadc.operators._backend import use_backend
from tests.helpers.tiny import tiny_data, tiny_table


class Cut(BaseException):
    """As a kill would, it passes everything that handles errors."""


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Every epoch is stored."""
    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deeper" / "training.safetensors"


def _train(selection="val-loss", cut=None, seed=0, hidden=5, epochs=12):
    """Train a small MLP; `cut` ends it in the validation of that epoch."""
    torch.manual_seed(seed)
    x, y = torch.randn(30, 4), torch.arange(30) % 3
    module, calls = MLP([4, hidden, 3], dropout=0.5), []

    def validate():
        calls.append(1)
        if len(calls) == cut:
            raise Cut
        return module(x[20:])

    settings = Training(epochs=epochs, lr=0.05, selection=selection)
    trained = train(module, lambda: module(x[:20]), validate, y[:20], y[20:], settings, resumable=True)
    return module, trained, len(calls)


def _same(one: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize("selection", SELECTIONS)
def test_it_goes_on_to_the_same_result(path, selection):
    module, trained, calls = _train(selection)
    with suppress(Cut), resumable(path):
        _train(selection, cut=8)
    assert path.exists()
    with resumable(path):
        again, resumed, left = _train(selection)
    assert left == calls - 7
    assert resumed == trained
    assert _same(module, again)


def test_it_may_be_cut_several_times(path):
    module, trained, _ = _train()
    for _ in range(3):
        with suppress(Cut), resumable(path):
            _train(cut=4)
    with resumable(path):
        again, resumed, left = _train()
    assert left == 3
    assert resumed == trained
    assert _same(module, again)


def test_a_block_that_ends_well_leaves_nothing(path):
    with resumable(path):
        _train()
    assert not path.exists()
    assert list(path.parent.iterdir()) == []


def test_nothing_is_stored_outside_of_a_block_or_before_its_time(path, monkeypatch):
    with suppress(Cut):
        _train(cut=8)
    monkeypatch.setattr(checkpoints, "SECONDS", 1e6)
    with suppress(Cut), resumable(path):
        _train(cut=8)
    assert not path.exists()


def test_each_training_of_a_block_has_its_own_state(path):
    """The first is done again, the second goes on."""
    expected = [_train(seed=seed)[1] for seed in (0, 1)]
    with suppress(Cut), resumable(path):
        _train(seed=0)
        _train(seed=1, cut=6)
    with resumable(path):
        _, first, whole = _train(seed=0)
        _, second, left = _train(seed=1)
    assert [first, second] == expected
    assert (whole, left) == (12, 7)


def test_a_place_that_cannot_be_written_costs_no_training(tmp_path):
    expected = _train()[1]
    (tmp_path / "file").write_text("in the way of a folder")
    with resumable(tmp_path / "file" / "training.safetensors"):
        assert _train()[1] == expected


@pytest.mark.parametrize("damage", ["cut short", "another kind", "another module"])
def test_a_file_that_does_not_fit_is_passed_over(path, damage):
    expected = _train()[1]
    with suppress(Cut), resumable(path):
        _train(cut=6, hidden=7 if damage == "another module" else 5)
    if damage == "cut short":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "another kind":
        persistence.write(path, "model", {}, {})
    with resumable(path):
        _, resumed, calls = _train()
    assert resumed == expected
    assert calls == 12


@pytest.mark.parametrize("name", ["mlp", "gcn", "gat", "appnp", "robust-gcn"])
@pytest.mark.parametrize("vast", [False, True])
def test_models_go_on_to_the_same_result(path, monkeypatch, name, vast):
    """Also where evaluations draw random numbers, for themselves or for the step that follows."""
    if vast:
        monkeypatch.setattr("gadc.models._fast.dropout._VAST", 1)
        monkeypatch.setattr("gadc.models._fast.dropout._WIDE", 0)
    data = tiny_data()
    data.x = data.x.float()
    model = make_model(name, epochs=10, dropout=0.5)
    stored = []
    save = checkpoints.Checkpoint.save

    def save_and_cut(self, *arguments):
        save(self, *arguments)
        stored.append(1)
        if len(stored) == 5:
            raise Cut

    with use_backend("numba" if vast else "torch"):
        expected = model.fit(data, seed=3)
        monkeypatch.setattr(checkpoints.Checkpoint, "save", save_and_cut)
        with suppress(Cut), resumable(path):
            model.fit(data, seed=3)
        monkeypatch.setattr(checkpoints.Checkpoint, "save", save)
        with resumable(path):
            resumed = model.fit(data, seed=3)
    assert resumed.trained == expected.trained
    assert torch.equal(resumed.logits, expected.logits)


def test_a_run_of_a_table_that_was_killed_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("GADC_CACHE", str(tmp_path))
    monkeypatch.setattr(run_module, "_last", None)
    table = tiny_table()
    row, column = table.row("mlp"), table.column("noisy")
    expected = run_once(table, row, column, 0)
    save = checkpoints.Checkpoint.save

    def save_and_cut(self, *arguments):
        save(self, *arguments)
        raise Cut

    monkeypatch.setattr(checkpoints.Checkpoint, "save", save_and_cut)
    with suppress(Cut):
        run_once(table, row, column, 0)
    [left] = (tmp_path / "runs").iterdir()
    assert persistence.read(left, checkpoints.KIND)[0]["figures"]["epoch"] == 0
    monkeypatch.setattr(checkpoints.Checkpoint, "save", save)
    again = run_once(table, row, column, 0)
    assert not left.exists()
    assert {key: again[key] for key in ("val", "test", "epoch")} == {
        key: expected[key] for key in ("val", "test", "epoch")
    }
