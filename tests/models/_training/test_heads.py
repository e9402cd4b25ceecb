"""Heads: their layers, dropout and initialisations."""

import math

import pytest
import torch

from gadc.models._training.heads import INITS, MLP, build_head


def test_mlp_drops_nothing_in_evaluation_mode():
    torch.manual_seed(0)
    head = MLP([5, 6, 3], dropout=0.5)
    x = torch.randn(20, 5)
    assert not torch.equal(head(x), head(x))
    head.eval()
    first, second = head.layers
    assert torch.equal(head(x), second(torch.relu(first(x))))


def test_mlp_drops_entries_of_its_input_unless_told_not_to():
    torch.manual_seed(0)
    x = torch.randn(20, 5)
    kept = MLP([5, 3], dropout=0.5, input_dropout=False)
    assert torch.equal(kept(x), kept.layers[0](x))
    dropped = MLP([5, 3], dropout=0.5)
    assert not torch.equal(dropped(x), dropped.layers[0](x))
    hidden = MLP([5, 6, 3], dropout=0.5, input_dropout=False)
    assert not torch.equal(hidden(x), hidden(x))


def _parameters(init, fan_out=400):
    torch.manual_seed(0)
    return [p.detach().double() for p in MLP([300, fan_out], init=init).layers[0].parameters()]


def test_uniform_initialisation_draws_from_its_interval():
    scale = 1 / math.sqrt(400)
    for parameter in _parameters("uniform"):
        assert float(parameter.abs().max()) <= scale
        assert float(parameter.abs().max()) > 0.97 * scale
        assert float(parameter.std()) == pytest.approx(scale / math.sqrt(3), rel=0.1)
        assert float(parameter.mean()) == pytest.approx(0, abs=0.15 * scale)


def test_shifted_initialisation_has_a_negative_mean():
    scale = 1 / math.sqrt(400)
    for parameter in _parameters("shifted"):
        assert float(parameter.mean()) == pytest.approx(-scale, rel=0.15)
        assert float(parameter.std()) == pytest.approx(scale, rel=0.1)


def test_default_initialisation_is_torch_s_own():
    parameters = _parameters("default")
    torch.manual_seed(0)
    for parameter, expected in zip(parameters, torch.nn.Linear(300, 400).parameters(), strict=True):
        assert torch.equal(parameter, expected.double())


@pytest.mark.parametrize("init", INITS)
def test_initialisation_acts_on_every_layer(init):
    torch.manual_seed(0)
    head = build_head("mlp", 50, 2, hidden=100, num_layers=3, init=init)
    for layer in head.layers:
        fan = layer.in_features if init == "default" else layer.out_features
        expected = {"default": 1 / math.sqrt(3), "uniform": 1 / math.sqrt(3), "shifted": 1.0}[init]
        assert float(layer.weight.detach().std()) == pytest.approx(expected / math.sqrt(fan), rel=0.2)


def test_build_head_builds_the_layers_of_its_kind():
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
def test_build_head_rejects_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        build_head(in_features=7, num_classes=3, **settings)


def test_build_head_forecasts_its_memory():
    with pytest.raises(MemoryError, match="build_head: a head with 12,000,000,000,000 weights needs about"):
        build_head("mlp", 10, 2, hidden=10**12)
