"""A state that follows its graph: the certificate holds after every update, and pushing does the work."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import gadc
from gadc import DiffusionState
from gadc.diffusion._state import _updating
from tests.helpers.changing import SETTINGS, exact_features, excess, random_changes, random_graph

CHOICES = sorted(SETTINGS)


def _state(name, seed=0, n=12, dtype=torch.float32, **others):
    x, edges, weight = random_graph(np.random.default_rng(seed), n, 3, dtype)
    return DiffusionState(x, edges, weight, **{**SETTINGS[name], **others})


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", CHOICES)
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), tol=st.sampled_from([1e-1, 1e-3, 1e-5]))
def test_certificate_holds_after_every_update(name, dtype, seed, tol):
    rng = np.random.default_rng(seed)
    x, edges, weight = random_graph(rng, int(rng.integers(3, 14)), 3, dtype)
    try:
        state = DiffusionState(x, edges, weight, tol=tol, **SETTINGS[name])
    except ValueError:  # the series of this graph diverges
        return
    assert excess(state) <= 1
    for _ in range(20):
        before, nodes, bound = state.features.clone(), state.num_nodes, state.error_bound
        try:
            found = state.update(**random_changes(rng, state))
        except ValueError as error:
            if "bounded" not in str(error):
                raise
            # The changed series diverges: nothing has happened.
            assert state.num_nodes == nodes
            assert torch.equal(state.features, before)
            assert state.error_bound == bound
            assert excess(state) <= 1
            continue
        assert excess(state) <= 1
        same = torch.ones(nodes, dtype=torch.bool)
        same[found.changed_rows[found.changed_rows < nodes]] = False
        assert torch.equal(state.features[:nodes][same], before[same])


@pytest.mark.parametrize("name", ["plain", "II", "III", "I", "steps-plain"])
def test_update_keeps_the_tolerance(name):
    eps = {"III": {"eps": 0.05}}.get(name, {})  # with a larger one the changed series may diverge
    rng, state = np.random.default_rng(1), _state(name, 1, n=30, dtype=torch.float64, **eps)
    for _ in range(10):
        state.update(**random_changes(rng, state))
    numbers = state._numbers
    assert state.error_bound <= max(numbers.allowed, 2 * numbers.floor)
    size = float(exact_features(state).norm() / state.num_nodes**0.5)
    assert numbers.allowed <= 1e-2 * size  # the unit is the size at the last full run


def test_one_edge_reads_few_entries_of_a_large_graph():
    n = 20_000
    ring = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])
    x = torch.randn(n, 4, generator=torch.Generator().manual_seed(0))
    state = DiffusionState(x, ring, variant="plain", lam=4.0)
    found = state.update(add=torch.tensor([[5], [10_000]]))
    assert not found.was_full
    assert found.entries_read < 3_000
    assert 10 < len(found.changed_rows) < 200
    state.update(remove=torch.tensor([[10_000], [5]]))
    again = gadc.diffuse(x, ring, variant="plain", lam=4.0, num_steps=None, rtol=1e-6)
    assert ((state.features - again).norm(dim=1) <= state.row_bounds() + 1e-5).all()


def test_changes_of_a_hub_fall_back_to_a_full_run(monkeypatch):
    monkeypatch.setattr(_updating, "_FREE", 0)
    state = _state("plain", n=200)
    found = state.update(x={0: torch.full((3,), 100.0)})
    assert found.was_full
    assert len(found.changed_rows) == 200
    assert excess(state) <= 1


def test_scale_of_iii_is_renewed_before_its_drift_exceeds_the_tolerance():
    state = _state("III", n=40, dtype=torch.float64)
    held, fulls = state._engine.similar, 0
    for node in range(40):
        fulls += state.update(x={node: 1.5 * state.x[node]}).was_full
        assert excess(state) <= 1
    assert 0 < fulls < 40
    assert state._engine.similar != held


def test_update_without_changes_does_nothing():
    state = _state("plain")
    there = state.edges[0][:, :1]
    assert len(state.update().changed_rows) == 0
    assert state.update(add=there).entries_read == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"remove": torch.tensor([[3], [3]])}, None),
        ({"add": torch.tensor([[0], [99]])}, "node numbers from 0 to 11"),
        ({"x": {99: torch.zeros(3)}}, "must be from 0 to 11"),
        ({"x": {1: torch.zeros(2)}}, "must have 3 features"),
        ({"x": {1: torch.tensor([0.0, np.nan, 0.0])}}, "must be finite"),
        ({"new_nodes": torch.zeros(1, 4)}, "must have 3 features"),
        ({"reweight": (torch.tensor([[0], [1]]), torch.tensor([-1.0]))}, "must be > 0"),
    ],
)
def test_invalid_changes_are_refused_and_change_nothing(changes, message):
    state = _state("plain")
    before = state.features.clone()
    if message is None:
        assert len(state.update(**changes).changed_rows) == 0
    else:
        with pytest.raises(ValueError, match=message):
            state.update(**changes)
    assert torch.equal(state.features, before)


def test_edges_that_are_missing_or_given_twice_are_refused():
    x, edges = torch.eye(4), torch.tensor([[0, 1], [1, 2]])
    state = DiffusionState(x, edges, variant="plain", lam=4.0)
    with pytest.raises(ValueError, match=r"edges of remove must be in the graph, got \(0, 3\)"):
        state.update(remove=torch.tensor([[3], [0]]))
    with pytest.raises(ValueError, match="edges of add must not be in the graph; use reweight"):
        state.update(add=(torch.tensor([[0], [1]]), torch.tensor([2.0])))
    with pytest.raises(ValueError, match="in one of add, remove and reweight"):
        state.update(add=torch.tensor([[0], [1]]), remove=torch.tensor([[1], [0]]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variant": "IV+"}, "use gadc.diffuse"),
        ({"variant": "V"}, "variant must be one of"),
        ({"tol": 0.0}, "tol must be finite and > 0"),
        ({"variant": "II", "num_steps": 3}, "num_steps must be None"),
        ({"variant": "IV", "lam": 1e6, "self_loops": 2.0}, "take num_steps"),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        DiffusionState(torch.eye(3), torch.tensor([[0], [1]]), **settings)


def test_features_of_zeros_can_be_updated():
    state = DiffusionState(torch.zeros(3, 2), torch.tensor([[0], [1]]), variant="plain", lam=1.0)
    state.update(x={0: torch.ones(2)})
    assert excess(state) <= 1


@pytest.mark.parametrize("name", ["plain", "II", "III", "I", "steps-IV"])
def test_impact_leaves_the_state_as_it_is_and_agrees_with_the_update(name):
    state = _state(name, 3, n=25)
    pair = next((u, 7) for u in range(25) if u != 7 and not state.has_edges(torch.tensor([[u], [7]]))[0])
    before, bound, rests = state.features.clone(), state.error_bound, state._engine.levels[-1].rests.copy()
    sums = state._engine.sums.copy()
    impact = state.impact(*pair)
    assert torch.equal(state.features, before)
    assert state.error_bound == bound
    assert np.array_equal(state._engine.levels[-1].rests, rests)
    assert np.allclose(state._engine.sums, sums, rtol=0, atol=0)
    assert not impact.removes
    state.update(add=torch.tensor(pair)[:, None])
    moved = (state.features - before)[impact.rows].norm(dim=1).double()
    assert torch.allclose(moved, impact.moved, atol=5e-3 if name == "II" else 1e-5)  # II renews its matrix
    assert (impact.moved.diff() <= 0).all()
    assert state.impact(*pair).removes


def test_impact_names_the_predictions_that_would_change():
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    state = DiffusionState(x, torch.tensor([[1, 2], [2, 3]]), variant="plain", lam=32.0)
    impact = state.impact(0, 1, 5.0, head=lambda rows: rows)
    assert impact.predictions.tolist() == [0]
    assert impact.scores["cosine"] == 1.0
    assert 0 <= impact.suspicion <= 2
    with pytest.raises(ValueError, match="two nodes"):
        state.impact(1, 1)
