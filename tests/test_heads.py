"""Heads: dropout that keeps the mean, initialisations as stated, layers as asked for."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gadc.heads import INITS, MLP, build_head, drop
from gadc.kernels import use_backend


@pytest.fixture(params=[False, True], ids=["few", "many"])
def many(request, monkeypatch):
    """Whether the entries count as many, whose random bits are made on the way."""
    monkeypatch.setattr("gadc.heads._MANY", 1 if request.param else math.inf)


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
    monkeypatch.setattr("gadc.heads._MANY", 1)
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


def test_no_dropout_in_evaluation():
    torch.manual_seed(0)
    head = MLP([5, 6, 3], dropout=0.5)
    x = torch.randn(20, 5)
    assert not torch.equal(head(x), head(x))
    head.eval()
    first, second = head.layers
    assert torch.equal(head(x), second(torch.relu(first(x))))


def test_dropout_on_the_input_is_optional():
    torch.manual_seed(0)
    x = torch.randn(20, 5)
    spared = MLP([5, 3], dropout=0.5, input_dropout=False)
    assert torch.equal(spared(x), spared.layers[0](x))
    hit = MLP([5, 3], dropout=0.5)
    assert not torch.equal(hit(x), hit.layers[0](x))
    hidden = MLP([5, 6, 3], dropout=0.5, input_dropout=False)
    assert not torch.equal(hidden(x), hidden(x))


def _parameters(init, fan_out=400):
    torch.manual_seed(0)
    return [p.detach().double() for p in MLP([300, fan_out], init=init).layers[0].parameters()]


def test_uniform_initialisation():
    scale = 1 / math.sqrt(400)
    for parameter in _parameters("uniform"):
        assert float(parameter.abs().max()) <= scale
        assert float(parameter.abs().max()) > 0.97 * scale
        assert float(parameter.std()) == pytest.approx(scale / math.sqrt(3), rel=0.1)
        assert float(parameter.mean()) == pytest.approx(0, abs=0.15 * scale)


def test_shifted_initialisation():
    scale = 1 / math.sqrt(400)
    for parameter in _parameters("shifted"):
        assert float(parameter.mean()) == pytest.approx(-scale, rel=0.15)
        assert float(parameter.std()) == pytest.approx(scale, rel=0.1)


def test_default_initialisation_is_that_of_torch():
    ours = _parameters("default")
    torch.manual_seed(0)
    for parameter, theirs in zip(ours, torch.nn.Linear(300, 400).parameters(), strict=True):
        assert torch.equal(parameter, theirs.double())


@pytest.mark.parametrize("init", INITS)
def test_every_layer_is_initialised(init):
    torch.manual_seed(0)
    head = build_head("mlp", 50, 2, hidden=100, num_layers=3, init=init)
    for layer in head.layers:
        fan = layer.in_features if init == "default" else layer.out_features
        expected = {"default": 1 / math.sqrt(3), "uniform": 1 / math.sqrt(3), "shifted": 1.0}[init]
        assert float(layer.weight.detach().std()) == pytest.approx(expected / math.sqrt(fan), rel=0.2)


def test_layers_of_a_head():
    widths = [(layer.in_features, layer.out_features) for layer in build_head("linear", 7, 3).layers]
    assert widths == [(7, 3)]
    head = build_head("mlp", 7, 3, hidden=5, num_layers=3)
    assert [(layer.in_features, layer.out_features) for layer in head.layers] == [(7, 5), (5, 5), (5, 3)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "conv"}, "kind must be one of 'linear', 'mlp', got 'conv'"),
        ({"kind": "mlp", "num_layers": 1}, "num_layers must be a whole number >= 2, got 1"),
        ({"kind": "mlp", "hidden": 0}, "hidden must be a whole number >= 1, got 0"),
        ({"kind": "linear", "dropout": 1.0}, r"dropout must lie in \[0, 1\), got 1.0"),
        ({"kind": "linear", "dropout": math.nan}, r"dropout must lie in \[0, 1\), got nan"),
        (
            {"kind": "linear", "init": "zero"},
            "init must be one of 'default', 'uniform', 'shifted', got 'zero'",
        ),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        build_head(in_features=7, num_classes=3, **settings)
