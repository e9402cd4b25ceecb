"""Every model in the registry keeps the same promises."""

import re
import sys
from dataclasses import FrozenInstanceError, fields

import pytest
import torch

from gadc.experiments import load_table, table_names
from gadc.models import MODELS, Fitted, Model, make_model
from gadc.models._training.callbacks import Callback
from tests.helpers.auto_graphs import shorten_trainings
from tests.helpers.paths import ROOT
from tests.helpers.tiny import tiny_data

FEW = {"epochs": 5, "hidden": 8, "dropout": 0.5}
NEEDED = {
    "stable": {"max_epochs": 5},
    "adversarial-gprgnn": {"clean_epochs": 1, "attack_steps": 2},
    "auto": {"families": ("none", "plain"), "time_budget": None},
}
WITHOUT_FEATURES = {"label-propagation"}
CLOSED_FORM = {"ridge", "robust-ridge", "student", "trust-gate"}  # trained by one solve
WITHOUT_CALLBACKS = {"label-propagation", "auto", *CLOSED_FORM}  # no epochs; many small trainings
WITHOUT_CHANCE = {"label-propagation", *CLOSED_FORM}
WITHOUT_PAPER = {"auto": "ours: chooses among others"}
WITHOUT_ROW = {
    "label-propagation": "a candidate of auto",
    "rung": "a baseline of benchmarks/defences.py",
    "gprgnn": "no published figures here",
    "adversarial-gprgnn": "no published figures on these splits",
    "ridge": "no published figures",
    "robust-ridge": "no published figures",
    "student": "no published figures",
    "trust-gate": "no published figures",
}


class CountEpochs(Callback):
    """Count the epochs of all trainings."""

    epochs = 0

    def on_epoch(self, state):
        self.epochs += 1


def _make(name):
    known = {field.name for field in fields(MODELS[name])}
    few = {key: value for key, value in FEW.items() if key in known}
    return make_model(name, **few, **NEEDED.get(name, {}))


@pytest.fixture(autouse=True)
def _short_trainings(monkeypatch):
    shorten_trainings(monkeypatch)


@pytest.fixture(params=MODELS)
def model(request):
    return _make(request.param)


def test_unknown_name_lists_the_choices():
    with pytest.raises(ValueError, match=f"{', '.join(MODELS)}, got 'oracle'"):
        make_model("oracle")


def test_settings_are_frozen(model):
    assert isinstance(model, Model)
    with pytest.raises(FrozenInstanceError):
        setattr(model, fields(model)[0].name, None)


def test_fit_gives_scores_of_all_nodes_and_calls_its_callbacks(model):
    data, callback = tiny_data(), CountEpochs()
    fitted = model.fit(data, seed=1, callbacks=[callback])
    assert isinstance(fitted, Fitted)
    assert fitted.logits.shape == (30, 3)
    assert not fitted.logits.requires_grad
    silent = {MODELS[name] for name in WITHOUT_CALLBACKS}
    assert (callback.epochs > 0) == (type(model) not in silent)


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


def test_same_seed_gives_the_same_result(model):
    data = tiny_data()
    assert torch.equal(model.fit(data, seed=1).logits, model.fit(data, seed=1).logits)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in WITHOUT_CHANCE])
def test_another_seed_gives_another_result(name):
    model, data = _make(name), tiny_data()
    assert not torch.equal(model.fit(data, seed=1).logits, model.fit(data, seed=2).logits)


def test_fit_restores_the_global_generator(model):
    data = tiny_data()
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first = model.fit(data, seed=1).logits
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(6)
    assert torch.equal(model.fit(data, seed=1).logits, first)


def test_fit_does_not_change_the_data(model):
    data = tiny_data()
    model.fit(data, seed=1)
    for key, value in tiny_data().to_dict().items():
        assert torch.equal(data[key], value), key


def test_fit_does_not_use_test_labels(model):
    data = tiny_data()
    first = model.fit(data, seed=1)
    data.y = torch.where(data.test_mask, 0, data.y)
    assert torch.equal(model.fit(data, seed=1).logits, first.logits)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in WITHOUT_FEATURES])
def test_fit_keeps_double_precision(name):
    fitted = _make(name).fit(tiny_data(dtype=torch.float64), seed=1)
    assert fitted.logits.dtype == torch.float64


def _documented():
    """Gradient column by name, from the table in docs/reference/models.md."""
    text = (ROOT / "docs/reference/models.md").read_text(encoding="utf-8")
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    assert all(len(line) == 6 for line in lines), "each line has the six columns of the heading"
    return {line[0].strip("`"): line[4] for line in lines}


def _missing(name, kind):
    """List what a model of that name still lacks."""
    module = kind.__module__
    *folders, file = module.split(".")[1:]
    test = ROOT.joinpath("tests", *folders, f"test_{file.lstrip('_')}.py")
    rows = {row.model for table in table_names() for row in load_table(table).rows}
    there = {
        "citation": name in WITHOUT_PAPER or _cites(sys.modules[module].__doc__ or ""),
        "test": test.exists() and kind.__name__ in test.read_text(encoding="utf-8"),
        "example": ">>> " in (kind.__doc__ or ""),
        "docs": name in _documented(),
        "row": name in WITHOUT_ROW or name in rows,
    }
    return [what for what, found in there.items() if not found]


def _cites(docstring):
    """Whether a title in quotation marks and, behind it, a year are there."""
    return re.search(r'"[^"]{10,}",?\s.*?\b(19|20)\d\d\b', docstring, re.DOTALL) is not None


@pytest.mark.parametrize("name", MODELS)
def test_model_has_citation_test_example_docs_and_row(name):
    assert _missing(name, MODELS[name]) == []


def test_model_without_these_is_reported():
    class Unheard(Model):
        __module__ = "gadc.models"

    assert _missing("unheard", Unheard) == ["citation", "test", "example", "docs", "row"]
    assert not _cites('An idea of 2017, "short".')
    assert not _cites('"Semi-Supervised Classification", somewhere.')


def test_docs_name_existing_models_only():
    assert set(_documented()) <= set(MODELS)


@pytest.mark.parametrize("name", [name for name in MODELS if not MODELS[name].reads_edges])
def test_model_that_reads_no_edges_is_not_moved_by_them(name):
    data = tiny_data()
    fitted = _make(name).fit(data, seed=1)
    assert torch.equal(fitted.scores(data.x, data.edge_index[:, :0]), fitted.scores(data.x, data.edge_index))


@pytest.mark.parametrize("name", [name for name in MODELS if name not in WITHOUT_PAPER])
def test_docs_say_whether_edge_weights_have_a_gradient(name):
    data = tiny_data()
    fitted = _make(name).fit(data, seed=1)
    weight = data.edge_weight.clone().requires_grad_()
    out = fitted.scores(data.x, data.edge_index, weight).square().sum()
    gradient = torch.autograd.grad(out, weight, allow_unused=True)[0] if out.requires_grad else None
    found = gradient is not None and bool(gradient.isfinite().all() and (gradient != 0).any())
    assert _documented()[name].startswith("yes" if found else "no")
