"""What every model in the registry promises."""

from dataclasses import FrozenInstanceError, fields

import pytest
import torch
from tiny import tiny_data

from gadc.models import MODELS, Fitted, Model, make_model

FEW = {"epochs": 5, "hidden": 8, "dropout": 0.5}
NEEDED = {"best": {"candidates": [{"model": "gadc", **FEW}, {"model": "mlp", **FEW}]}}
WITHOUT_FEATURES = {"label-propagation"}
WITHOUT_CHANCE = {"label-propagation"}


def _make(name):
    known = {field.name for field in fields(MODELS[name])}
    few = {key: value for key, value in FEW.items() if key in known}
    return make_model(name, **few, **NEEDED.get(name, {}))


@pytest.fixture(params=MODELS)
def model(request):
    return _make(request.param)


def test_an_unknown_name_lists_the_choices():
    with pytest.raises(ValueError, match=f"{', '.join(MODELS)}, got 'oracle'"):
        make_model("oracle")


def test_settings_are_frozen(model):
    assert isinstance(model, Model)
    with pytest.raises(FrozenInstanceError):
        setattr(model, fields(model)[0].name, None)


def test_fit_gives_scores_of_all_nodes(model):
    data = tiny_data()
    fitted = model.fit(data, seed=1)
    assert isinstance(fitted, Fitted)
    assert fitted.logits.shape == (30, 3)
    assert not fitted.logits.requires_grad


def test_scores_on_the_training_graph_are_the_logits(model):
    data = tiny_data()
    fitted = model.fit(data, seed=1)
    with torch.no_grad():
        scores = fitted.scores(data.x, data.edge_index, data.edge_weight)
    assert torch.allclose(scores, fitted.logits, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in WITHOUT_FEATURES])
def test_scores_are_differentiable_in_the_features(name):
    data = tiny_data()
    fitted = _make(name).fit(data, seed=1)
    x = data.x.clone().requires_grad_()
    fitted.scores(x, data.edge_index, data.edge_weight).square().sum().backward()
    assert bool((x.grad != 0).any(1).all())


def test_same_seed_same_result(model):
    data = tiny_data()
    assert torch.equal(model.fit(data, seed=1).logits, model.fit(data, seed=1).logits)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in WITHOUT_CHANCE])
def test_another_seed_another_result(name):
    model, data = _make(name), tiny_data()
    assert not torch.equal(model.fit(data, seed=1).logits, model.fit(data, seed=2).logits)


def test_global_randomness_is_left_as_it_was(model):
    data = tiny_data()
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first = model.fit(data, seed=1).logits
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(6)
    assert torch.equal(model.fit(data, seed=1).logits, first)


def test_data_is_not_changed(model):
    data = tiny_data()
    model.fit(data, seed=1)
    for key, value in tiny_data().to_dict().items():
        assert torch.equal(data[key], value), key


def test_test_labels_are_not_used(model):
    data = tiny_data()
    first = model.fit(data, seed=1)
    data.y = torch.where(data.test_mask, 0, data.y)
    assert torch.equal(model.fit(data, seed=1).logits, first.logits)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in WITHOUT_FEATURES])
def test_double_precision(name):
    fitted = _make(name).fit(tiny_data(dtype=torch.float64), seed=1)
    assert fitted.logits.dtype == torch.float64
