"""A training that was interrupted resumes and ends as if it had not been, to the last bit."""

from contextlib import suppress

import pytest
import torch
from torch import nn

from gadc._base import persistence
from gadc.experiments import _checkpoints, run_once
from gadc.experiments import _run as run_module
from gadc.experiments._checkpoints import Checkpoints
from gadc.models import make_model
from gadc.models._training.heads import MLP
from gadc.models._training.loop import Training, train
from gadc.models._training.selection import SELECTIONS
from tests.helpers.tiny import tiny_data, tiny_table


class Kill(BaseException):
    """Pass everything that handles errors, as a killed process does."""


class Killing(Checkpoints):
    """Checkpoints that end the process once a number of states has been stored."""

    def __init__(self, path, after):
        super().__init__(path)
        self.left = after

    def save(self, state):
        super().save(state)
        self.left -= 1
        if self.left == 0:
            raise Kill


@pytest.fixture(autouse=True)
def _store_every_epoch(monkeypatch):
    monkeypatch.setattr(_checkpoints, "SECONDS", 0.0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deeper" / "training.safetensors"


def _train(callback=None, selection="val-loss", kill=None, seed=0, hidden=5, **settings):
    """Train a small MLP, and raise `Kill` in the validation number `kill`; return the validations as well."""
    torch.manual_seed(seed)
    x, y = torch.randn(30, 4), torch.arange(30) % 3
    module, calls = MLP([4, hidden, 3], dropout=0.5), []

    def validate():
        calls.append(1)
        if len(calls) == kill:
            raise Kill
        return module(x[20:])

    trained = train(
        module,
        lambda: module(x[:20]),
        validate,
        y[:20],
        y[20:],
        Training(**{"epochs": 12, "lr": 0.05, "selection": selection} | settings),
        resumable=True,
        callbacks=[] if callback is None else [callback],
    )
    return module, trained, len(calls)


def _same(one: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize("selection", SELECTIONS)
def test_training_resumes_to_the_same_result(path, selection):
    module, trained, calls = _train(selection=selection)
    with suppress(Kill):
        _train(Checkpoints(path), selection, kill=8)
    assert path.exists()
    again, resumed, left = _train(Checkpoints(path), selection)
    assert left == calls - 7
    assert resumed == trained
    assert _same(module, again)


def test_training_resumes_after_several_interruptions(path):
    module, trained, _ = _train()
    for _ in range(3):
        with suppress(Kill):
            _train(Checkpoints(path), kill=4)
    again, resumed, left = _train(Checkpoints(path))
    assert left == 3
    assert resumed == trained
    assert _same(module, again)


@pytest.mark.parametrize("settings", [{}, {"epochs": 200, "patience": 2}], ids=["epochs", "patience"])
def test_training_that_was_stored_in_its_last_epoch_does_not_go_beyond_it(path, settings):
    module, trained, calls = _train(**settings)
    assert calls < 200
    _train(Checkpoints(path), **settings)
    again, resumed, left = _train(Checkpoints(path), **settings)
    assert left == 0
    assert resumed == trained
    assert _same(module, again)


def test_checkpoints_leave_no_file_once_removed(path):
    checkpoints = Checkpoints(path)
    _train(checkpoints)
    checkpoints.remove()
    checkpoints.remove()  # a missing file is not an error
    assert list(path.parent.iterdir()) == []


def test_checkpoints_store_nothing_before_their_time(path, monkeypatch):
    monkeypatch.setattr(_checkpoints, "SECONDS", 1e6)
    with suppress(Kill):
        _train(Checkpoints(path), kill=8)
    assert not path.exists()


def test_checkpoints_number_the_trainings_of_a_run(path):
    """Repeat the first training, which was finished, and resume the second."""
    expected = [_train(seed=seed)[1] for seed in (0, 1)]
    checkpoints = Checkpoints(path)
    with suppress(Kill):
        _train(checkpoints, seed=0)
        _train(checkpoints, seed=1, kill=6)
    checkpoints = Checkpoints(path)
    _, first, whole = _train(checkpoints, seed=0)
    _, second, left = _train(checkpoints, seed=1)
    assert [first, second] == expected
    assert (whole, left) == (12, 7)


def test_checkpoints_tell_trainings_of_equal_shape_apart(path):
    """Ignore a state that has the right number and shapes but comes from other initial weights."""
    with suppress(Kill):
        _train(Checkpoints(path), seed=1, kill=6)
    _, trained, calls = _train(Checkpoints(path), seed=0)
    assert trained == _train(seed=0)[1]
    assert calls == 12


def test_checkpoints_pass_over_trainings_that_cannot_be_resumed(path):
    model = make_model("nagphormer", hidden=8, heads=2, epochs=3, eigenvectors=0, warmup=1, decay_until=2)
    checkpoints = Checkpoints(path)
    model.fit(tiny_data(), callbacks=[checkpoints])
    assert checkpoints.count == 0
    assert not path.exists()


def test_checkpoints_that_cannot_be_written_cost_no_training(tmp_path):
    (tmp_path / "file").write_text("in the way of a folder")
    unwritable = Checkpoints(tmp_path / "file" / "training.safetensors")
    assert _train(unwritable)[1] == _train()[1]


@pytest.mark.parametrize("damage", ["truncated", "another kind", "another module"])
def test_checkpoints_ignore_a_file_that_does_not_fit(path, damage):
    with suppress(Kill):
        _train(Checkpoints(path), kill=6, hidden=7 if damage == "another module" else 5)
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "another kind":
        persistence.write(path, "model", {}, {})
    _, resumed, calls = _train(Checkpoints(path))
    assert resumed == _train()[1]
    assert calls == 12


@pytest.mark.parametrize("name", ["mlp", "gcn", "gat", "appnp", "robust-gcn"])
def test_models_resume_to_the_same_result(path, name):
    """Include a model whose evaluation draws random numbers (RobustGCN)."""
    data = tiny_data()
    model = make_model(name, epochs=10, dropout=0.5)
    expected = model.fit(data, seed=3)
    with suppress(Kill):
        model.fit(data, seed=3, callbacks=[Killing(path, after=5)])
    resumed = model.fit(data, seed=3, callbacks=[Checkpoints(path)])
    assert resumed.trained == expected.trained
    assert torch.equal(resumed.logits, expected.logits)


@pytest.mark.parametrize("after", [5, 15])
def test_models_that_train_several_times_resume_to_the_same_result(path, after):
    data = tiny_data()

    def fit(*callbacks):
        make_model("mlp", epochs=10).fit(data, seed=3, callbacks=callbacks)
        return make_model("gcn", epochs=10).fit(data, seed=3, callbacks=callbacks)

    expected = fit()
    with suppress(Kill):
        fit(Killing(path, after=after))
    resumed = fit(Checkpoints(path))
    assert resumed.trained == expected.trained
    assert torch.equal(resumed.logits, expected.logits)


def test_run_of_a_table_resumes_after_a_kill(tmp_path, monkeypatch):
    monkeypatch.setenv("GADC_CACHE", str(tmp_path))
    monkeypatch.setattr(run_module, "_last", None)
    cell = tiny_table().cell("mlp", "noisy")
    expected = run_once(cell, 0)
    with monkeypatch.context() as patched:
        patched.setattr(run_module, "Checkpoints", lambda path: Killing(path, after=1))
        with suppress(Kill):
            run_once(cell, 0)
    [left] = (tmp_path / "runs").iterdir()
    assert persistence.read(left, _checkpoints.KIND)[0]["figures"]["epoch"] == 0
    again = run_once(cell, 0)
    assert not left.exists()
    assert (again.val, again.test, again.epoch) == (expected.val, expected.test, expected.epoch)
