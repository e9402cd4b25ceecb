"""Dropout keeps the mean and the stated share; linear maps of dropped features are those of what is left."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from gadc.datasets import csbm
from gadc.models import make_model
from gadc.models._fast.dropout import drop, dropped_linear, sharing_passes
from gadc.models._fast.sparse_features import SparseFeatures
from gadc.operators._backend import use_backend


@pytest.fixture(params=[False, True], ids=["few", "many"])
def many(request, monkeypatch):
    """Whether the entries count as many, whose random bits are made on the way."""
    monkeypatch.setattr("gadc.models._fast.dropout._MANY", 1 if request.param else math.inf)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("probability", [0.01, 0.3, 0.5, 0.9])
def test_drop_keeps_the_expectation_and_the_stated_share(probability):
    torch.manual_seed(0)
    n = 400_000
    dropped = drop(torch.ones(n // 8, 8), probability)
    share = float((dropped == 0).double().mean())
    spread = math.sqrt(probability * (1 - probability) / n)
    assert abs(share - probability) < 5 * spread + 2**-17
    assert float(dropped.double().mean()) == pytest.approx(1, abs=(5 * spread + 2**-17) / (1 - probability))


@pytest.mark.usefixtures("many")
def test_drop_decides_on_each_entry_by_itself():
    """Four entries share a random number: their places in it must not matter, nor their neighbours."""
    torch.manual_seed(0)
    kept = (drop(torch.ones(50_000, 4), 0.5) != 0).double()
    assert torch.allclose(kept.mean(0), torch.full((4,), 0.5, dtype=torch.float64), atol=0.012)
    correlation = torch.corrcoef(kept.T) - torch.eye(4)
    assert float(correlation.abs().max()) < 0.025


@given(st.lists(st.integers(1, 7), min_size=1, max_size=3), st.floats(0.0, 0.9), st.integers(0, 2**16))
def test_drop_zeroes_or_scales(shape, probability, seed):
    torch.manual_seed(seed)
    x = torch.rand(shape, dtype=torch.float64) + 1
    dropped = drop(x, probability)
    scaled = x / (1 - probability)
    assert dropped.shape == x.shape
    assert torch.where(dropped == 0, torch.zeros_like(x), scaled).allclose(dropped, rtol=1e-12)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("probability", [0.0, 0.99999, 0.999999, 1 - 1e-9])
def test_drop_at_the_ends(probability):
    torch.manual_seed(0)
    share = float((drop(torch.ones(10_000), probability) == 0).double().mean())
    assert share == (0 if probability == 0 else pytest.approx(1, abs=1e-3))


@pytest.mark.usefixtures("many")
def test_gradient_passes_what_was_kept_only():
    torch.manual_seed(0)
    x = torch.ones(100, requires_grad=True)
    dropped = drop(x, 0.5)
    dropped.sum().backward()
    assert torch.equal(x.grad, dropped.detach())


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("threads", [1, 2])
def test_drop_is_the_same_whoever_computes_it(dtype, threads):
    """More entries than a thread takes at a time, in an order that is not that of memory."""
    x = torch.randn(1100, 1001, dtype=dtype).T
    before, dropped = torch.get_num_threads(), []
    try:
        torch.set_num_threads(threads)
        for backend in ("torch", "numba"):
            torch.manual_seed(0)
            with use_backend(backend):
                dropped.append(drop(x, 0.3))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(*dropped)
    assert 0.25 < float((dropped[1] == 0).double().mean()) < 0.35


def test_drops_of_many_entries_differ_from_call_to_call_and_repeat_with_the_seed(monkeypatch):
    monkeypatch.setattr("gadc.models._fast.dropout._MANY", 1)
    drawn = []
    for _ in range(2):
        torch.manual_seed(3)
        drawn.append([drop(torch.ones(1000), 0.5) for _ in range(2)])
    assert torch.equal(drawn[0][0], drawn[1][0])
    assert torch.equal(drawn[0][1], drawn[1][1])
    assert 400 < int((drawn[0][0] != drawn[0][1]).sum()) < 600


def test_a_compiled_drop_still_has_a_gradient():
    x = torch.ones(2000, 10, requires_grad=True)
    with use_backend("numba"):
        dropped = drop(x, 0.5)
    dropped.sum().backward()
    assert torch.equal(x.grad, dropped.detach())


@pytest.fixture
def vast(monkeypatch):
    """Every matrix counts as vast, and has the loops that skip what is dropped."""
    monkeypatch.setattr("gadc.models._fast.dropout._VAST", 1)
    with use_backend("numba"):
        yield


def _step(x, layer, probability=0.6):
    return dropped_linear(x, layer.weight, layer.bias, probability=probability, training=True)


@torch.no_grad()
def _evaluation(x, layer, probability=0.6):
    return dropped_linear(x, layer.weight, layer.bias, probability=probability, training=False)


def _telling(d, columns=40):
    """A layer whose first outputs are what it sees of its inputs."""
    layer = nn.Linear(d, columns)
    with torch.no_grad():
        layer.weight[:d] = torch.eye(d)
        layer.bias[:d] = 0
    return layer


def test_outside_of_training_loops_it_is_drop_and_linear():
    x, layer = torch.randn(30, 8), nn.Linear(8, 5)
    torch.manual_seed(0)
    expected = nn.functional.linear(drop(x, 0.6), layer.weight, layer.bias)
    torch.manual_seed(0)
    assert torch.equal(_step(x, layer), expected)
    assert torch.equal(_evaluation(x, layer), layer(x))
    assert torch.equal(dropped_linear(x, layer.weight, probability=0.0, training=True), x @ layer.weight.T)


def test_sparse_features_are_dropped_from_as_well():
    x, layer = torch.rand(30, 8, dtype=torch.float64) + 1, nn.Linear(8, 5).double()
    torch.manual_seed(0)
    expected = _step(x, layer)
    torch.manual_seed(0)
    assert torch.allclose(_step(SparseFeatures.of(x), layer), expected)


@pytest.mark.usefixtures("vast")
@pytest.mark.parametrize("probability", [0.01, 0.5, 0.6, 0.99])
def test_a_vast_step_drops_the_stated_share_and_scales_the_rest(probability):
    torch.manual_seed(0)
    x, layer = torch.rand(1000, 40) + 1, _telling(40)
    with sharing_passes():
        kept = _step(x, layer, probability)
    share = float((kept == 0).double().mean())
    assert share == pytest.approx(probability, abs=5 * math.sqrt(probability * (1 - probability) / x.numel()))
    scaled = x / (1 - probability)
    assert torch.allclose(kept, torch.where(kept == 0, 0.0, scaled), rtol=1e-5)


@pytest.mark.usefixtures("vast")
def test_vast_entries_are_dropped_independently():
    torch.manual_seed(0)
    x, layer = torch.ones(20_000, 8), _telling(8)
    with sharing_passes():
        kept = (_step(x, layer)[:, :8] != 0).double()
    correlation = torch.corrcoef(kept.T) - torch.eye(8)
    assert float(correlation.abs().max()) < 0.04
    assert abs(float(torch.corrcoef(torch.stack([kept[:-1, 0], kept[1:, 0]]))[0, 1])) < 0.04


@pytest.mark.usefixtures("vast")
@pytest.mark.parametrize("evaluated", [False, True])
def test_the_gradient_of_a_vast_step_is_that_of_what_it_kept(evaluated):
    torch.manual_seed(0)
    x, layer, weights = torch.randn(150, 30), _telling(30), torch.randn(150, 40)
    with sharing_passes():
        if evaluated:
            _step(x, layer)
            _evaluation(x, layer)
        out = _step(x, layer)
        of_weight, of_bias = torch.autograd.grad((out * weights).sum(), [layer.weight, layer.bias])
    kept = out[:, :30].detach()
    assert torch.allclose(out, nn.functional.linear(kept, layer.weight, layer.bias), atol=1e-4)
    assert torch.allclose(of_weight, weights.T @ kept, atol=1e-3)
    assert torch.allclose(of_bias, weights.sum(0), atol=1e-4)


@pytest.mark.usefixtures("vast")
def test_an_evaluation_is_exact_and_its_work_serves_one_step():
    torch.manual_seed(0)
    x, layer = torch.randn(80, 130), nn.Linear(130, 40)
    with sharing_passes():
        first = _step(x, layer)
        assert torch.allclose(_evaluation(x, layer), layer(x), atol=1e-4)
        state = torch.random.get_rng_state()
        second = _step(x, layer)
        assert torch.equal(torch.random.get_rng_state(), state)  # its mask was drawn before
        third = _step(x, layer)
        assert not torch.equal(torch.random.get_rng_state(), state)
    assert not torch.allclose(first, second)
    assert not torch.allclose(second, third)


@pytest.mark.usefixtures("vast")
def test_a_step_with_other_weights_does_not_take_the_work_of_an_evaluation():
    torch.manual_seed(0)
    x, layer = torch.randn(80, 130), nn.Linear(130, 40)
    with sharing_passes():
        _step(x, layer)
        _evaluation(x, layer)
        with torch.no_grad():
            layer.weight.zero_()
        assert torch.equal(_step(x, layer), layer.bias.expand(80, 40))


@pytest.mark.usefixtures("vast")
def test_evaluations_of_other_features_or_with_gradients_draw_no_mask():
    x, layer = torch.randn(80, 130), nn.Linear(130, 40)
    with sharing_passes():
        _step(x, layer)
        state = torch.random.get_rng_state()
        assert torch.equal(_evaluation(x.clone(), layer), layer(x))
        out = dropped_linear(x, layer.weight, layer.bias, probability=0.6, training=False)
        assert torch.equal(out, layer(x))
        assert torch.equal(torch.random.get_rng_state(), state)
    assert out.requires_grad


@pytest.mark.usefixtures("vast")
@pytest.mark.parametrize("name", ["appnp", "gat", "gcn", "irls", "mlp"])
def test_models_learn_as_well_on_vast_features(name):
    """Other random numbers, the same model: a few noisy communities are told apart either way."""
    data = csbm(num_nodes=300, num_features=40, seed=0)
    settings = {"hidden": 40} if name != "gat" else {"hidden": 8}
    fitted = make_model(name, **settings, epochs=100, dropout=0.5).fit(data, seed=0)
    with use_backend("torch"):
        usual = make_model(name, **settings, epochs=100, dropout=0.5).fit(data, seed=0)
    assert fitted.trained.val_loss == pytest.approx(usual.trained.val_loss, abs=0.15)
    assert not torch.equal(fitted.logits, usual.logits)
