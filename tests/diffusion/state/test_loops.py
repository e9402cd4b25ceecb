"""The compiled push against the same in plain Python, on T as a dense matrix."""

import numpy as np
import pytest
import torch

from gadc import DiffusionState
from gadc.diffusion._state import _reference
from gadc.diffusion._state._changes import read_changes
from gadc.diffusion._state._full import export_operator
from gadc.diffusion._state._updating import Updating
from tests.helpers.changing import SETTINGS, random_graph


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["plain", "plain-rw", "I", "III", "IV"])
def test_push_is_the_push_of_the_reference(name, dtype):
    x, edges, weight = random_graph(np.random.default_rng(4), 15, 3, dtype)
    settings = {**SETTINGS[name], "lam": 0.01} if name == "IV" else SETTINGS[name]  # so that it converges
    state = DiffusionState(x, edges, weight, **settings)
    engine = state._engine
    changes = read_changes(
        engine.edges, engine.n, engine.x, new_nodes=torch.ones(1, 3), add=torch.tensor([[15, 2], [0, 9]])
    )
    updating = Updating(engine, changes, state._numbers.inner)
    updating.prepare()
    (level,) = engine.levels
    T = export_operator(engine).to_dense().double().numpy()
    n, ratio = engine.n, engine.settings.ratio
    right = (1 - ratio) * engine.x[:n].astype(np.float64)
    before = level.features[:n].astype(np.float64)
    whole = right - before + ratio * T @ before
    touched = np.sort(level.touched)
    # What the full run left over is not part of the rests of rows that only received a change.
    assert (
        np.abs(whole - level.rests[:n])[touched].max() <= 20 * np.finfo(x.numpy().dtype).eps + level.base * 3
    )
    limit = 0.5 * state._numbers.inner * (1 - ratio * engine.norm_of_t)
    features, rests, pushes = _reference.push(
        level.features[:n], level.rests[:n], T, ratio, limit, engine.size[:n]
    )
    assert updating.push()
    assert pushes > 0
    bound = 2 * limit * engine.size[:n].max() / (1 - ratio * engine.norm_of_t)
    assert np.abs(level.features[:n] - features).max() <= bound
    assert (np.linalg.norm(level.rests[:n], axis=1) <= limit * engine.size[:n]).all()
    assert (np.linalg.norm(rests, axis=1) <= limit * engine.size[:n]).all()


def test_exported_operator_is_the_transition():
    import gadc

    x, edges, weight = random_graph(np.random.default_rng(5), 20, 3, torch.float64)
    for name in ("plain", "plain-rw", "I", "III", "IV"):
        state = DiffusionState(x, edges, weight, **SETTINGS[name])
        own = {key: value for key, value in SETTINGS[name].items() if key != "lam"}
        expected = gadc.transition(x, edges, weight, **own).to_dense()
        assert torch.allclose(export_operator(state._engine).to_dense(), expected, atol=1e-14)
