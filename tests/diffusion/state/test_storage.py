"""States on disk: what is loaded is what was saved, and an end at any moment leaves a whole state."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from gadc import DiffusionState
from gadc.diffusion._state import _storage
from tests.helpers.changing import SETTINGS, excess, random_changes, random_graph


def _state(name="plain", n=40, seed=0, **others):
    x, edges, weight = random_graph(np.random.default_rng(seed), n, 3, torch.float32)
    return DiffusionState(x, edges, weight, **{**SETTINGS[name], **others})


def _ring(n=400):
    """A state whose updates stay local."""
    edges = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])
    x = torch.randn(n, 3, generator=torch.Generator().manual_seed(0))
    return DiffusionState(x, edges, variant="plain", lam=1.0, tol=1e-2)


def _same(one, other):
    edges = [
        set(zip(*state.edges[0].tolist(), state.edges[1].tolist(), strict=True)) for state in (one, other)
    ]
    assert edges[0] == edges[1]
    assert torch.equal(one.x, other.x)
    assert torch.equal(one.features, other.features)
    assert one.error_bound == other.error_bound
    assert torch.equal(one.row_bounds(), other.row_bounds())


@pytest.mark.parametrize("name", ["plain", "II", "III", "I", "steps-IV"])
def test_loaded_state_continues_where_the_saved_one_was(name, tmp_path):
    state, rng = _state(name), np.random.default_rng(1)
    state.save(tmp_path / "state")
    for _ in range(4):
        changes = random_changes(rng, state)
        loaded = DiffusionState.load(tmp_path / "state")
        _same(loaded, state)
        state.update(**changes)
        loaded.update(**changes)
        # The order of the entries in a row may differ, and with it the rounding.
        assert torch.allclose(loaded.features, state.features, atol=1e-6)
        assert excess(loaded) <= 1
        state.save(tmp_path / "state")
        _same(DiffusionState.load(tmp_path / "state"), state)


def test_small_update_writes_no_second_base(tmp_path):
    state = _ring()
    state.save(tmp_path)
    base = json.loads((tmp_path / "state.json").read_text())["base"]
    state.update(x={3: torch.zeros(3)})
    state.save(tmp_path)
    manifest = json.loads((tmp_path / "state.json").read_text())
    assert manifest["base"] == base
    assert len(manifest["updates"]) == 1
    state.update(x={node: torch.ones(3) for node in range(300)})
    state.save(tmp_path)
    assert json.loads((tmp_path / "state.json").read_text())["base"] != base
    assert not (tmp_path / base).exists()


@pytest.mark.parametrize("function", ["_write_update", "write_text", "write_bytes", "_write_base"])
def test_failure_while_saving_leaves_the_former_state(function, tmp_path, monkeypatch):
    state = _ring()
    state.save(tmp_path, attachments={"note.txt": b"one"})
    before = DiffusionState.load(tmp_path)
    size = 300 if function == "_write_base" else 1
    state.update(x={node: torch.ones(3) for node in range(size)})

    def fail(*_):
        raise OSError("no space")

    monkeypatch.setattr(_storage, function, fail)
    with pytest.raises(OSError, match="no space"):
        state.save(tmp_path, attachments={"note.txt": b"two"})
    monkeypatch.undo()
    _same(DiffusionState.load(tmp_path), before)
    assert DiffusionState.load(tmp_path).attachments == {"note.txt": b"one"}
    state.save(tmp_path)
    _same(DiffusionState.load(tmp_path), state)


def test_two_processes_do_not_overwrite_each_other(tmp_path):
    state = _state()
    state.save(tmp_path)
    other = DiffusionState.load(tmp_path)
    other.update(x={0: torch.ones(3)})
    other.save(tmp_path)
    with pytest.raises(ValueError, match="changed by another process"):
        state.save(tmp_path)


@pytest.mark.parametrize("damage", ["missing", "text", "format", "base", "shape", "update"])
def test_damaged_folder_is_refused(damage, tmp_path):
    state = _ring()
    state.save(tmp_path)
    state.update(x={3: torch.zeros(3)})
    state.save(tmp_path)
    path = tmp_path / "state.json"
    manifest = json.loads(path.read_text())
    if damage == "missing":
        path.unlink()
    elif damage == "text":
        path.write_text("{")
    elif damage == "format":
        path.write_text(json.dumps({**manifest, "format": 99}))
    elif damage == "base":
        (tmp_path / manifest["base"] / "x.npy").unlink()
    elif damage == "shape":
        np.save(tmp_path / manifest["base"] / "level-0.npy", np.zeros((2, 2), dtype=np.float32))
    else:
        (tmp_path / manifest["updates"][0]["file"]).write_bytes(b"damaged")
    with pytest.raises(ValueError, match="DiffusionState"):
        DiffusionState.load(tmp_path)


_LOOP = """
import sys, torch
from gadc import DiffusionState
state = DiffusionState.load(sys.argv[1])
print("ready", flush=True)
step = int(state.x[0, 0])
while True:
    step += 1
    state.update(x={node: torch.full((3,), float(step)) for node in range(5)})
    state.save(sys.argv[1])
    print(step, flush=True)
"""


@pytest.mark.slow
def test_killed_process_leaves_a_whole_update(tmp_path):
    state = _ring()
    state.update(x={node: torch.zeros(3) for node in range(5)})
    state.save(tmp_path)
    command = [sys.executable, "-c", _LOOP, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        assert child.stdout.readline().strip() == "ready"
        child.stdout.readline()
        time.sleep(0.037)
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read().split()
    loaded = DiffusionState.load(tmp_path)
    assert (loaded.x[:5] == loaded.x[0, 0]).all()
    told = int(rest[-1]) if rest and rest[-1].isdigit() else 1
    assert told <= float(loaded.x[0, 0]) <= told + 1  # a whole step, at least the last one that was told
    assert excess(loaded) <= 1
