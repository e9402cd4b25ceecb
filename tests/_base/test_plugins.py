"""Models, attacks, data sets and tables of other packages, and plug-ins that are broken."""

import sys
import warnings

import pytest
import torch

from gadc._base.plugins import Registry, foreign_line, plugin_names
from gadc.datasets import card, csbm, load, names
from gadc.datasets import register as register_dataset
from gadc.experiments import load_table, run_once, table_names
from gadc.experiments import register as register_table
from gadc.models import MODELS, FeatureModel, make_model
from gadc.models import register as register_model
from gadc.robustness.attacks import ATTACKS, RandomFlips, make_attack, register_attack
from tests.helpers.plugins import install, restored_registries

CODE = """
from gadc.datasets import csbm
from gadc.models import FeatureModel
from gadc.robustness.attacks import EdgeAttack, RandomFlips

class Mine(FeatureModel):
    pass

class Failing(FeatureModel):
    def fit(self, data, *, seed=0, callbacks=()):
        raise KeyError("no such column")  # the line of the user

class Quiet(RandomFlips):
    pass

def blocks():
    return csbm(60, num_features=4, seed=0)

TABLE = {
    "title": "Mine", "source": "none", "runs": 1,
    "columns": [{"name": "blocks", "data": {"name": "user-blocks", "split": "random", "seed": 0}}],
    "rows": [
        {"name": "mine", "label": "Mine", "model": "user-model", "settings": {"epochs": 2, "hidden": 4}},
        {"name": "failing", "label": "Failing", "model": "user-failing"},
    ],
}
"""
POINTS = """
[gadc.models]
user-model = user_plugin:Mine
user-failing = user_plugin:Failing
[gadc.attacks]
user-attack = user_plugin:Quiet
[gadc.datasets]
user-blocks = user_plugin:blocks
[gadc.tables]
user-table = user_plugin:TABLE
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Install a package with one plug-in of each kind."""
    install(tmp_path, "user_plugin", CODE, POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    with restored_registries(reload=True):
        yield tmp_path
    sys.modules.pop("user_plugin", None)


@pytest.fixture(autouse=True)
def _restored():
    with restored_registries():
        yield


@pytest.mark.usefixtures("plugin")
def test_entry_points_add_one_of_each_kind():
    assert make_model("user-model", hidden=3).hidden == 3
    assert type(make_attack("user-attack")).__name__ == "Quiet"
    assert "user-blocks" in names()
    assert load("user-blocks", split="random", seed=3).train_mask.sum() == 36
    assert load_table("user-table").row("mine").label == "Mine"
    assert table_names()[-1] == "user-table"
    assert plugin_names("gadc.attacks") == ("user-attack",)


@pytest.mark.usefixtures("plugin")
def test_a_run_uses_plugins_and_its_error_shows_the_line_of_the_user():
    table = load_table("user-table")
    assert run_once(table.cell("mine", "blocks"), 0).error == ""
    error = run_once(table.cell("failing", "blocks"), 0).error
    assert "KeyError: 'no such column'" in error
    assert 'user_plugin.py, line 11, in fit: raise KeyError("no such column")' in error


BROKEN = {
    "raises": ("raise RuntimeError('no licence')", "RuntimeError: no licence .*broken.py, line 1"),
    "exits": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "syntax": ("def (", "SyntaxError.*broken.py, line 1"),
    "missing": ("", "AttributeError"),
    "not a model": ("Thing = 3", "must be a subclass of gadc.models.Model, got 3"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_a_warning_that_names_it(case, tmp_path, monkeypatch):
    code, message = BROKEN[case]
    install(tmp_path, "broken", code, "[gadc.models]\nthing = broken:Thing\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    with restored_registries(reload=True):
        with pytest.warns(UserWarning, match=f"plug-in 'thing' of broken .*left out: .*{message}"):
            assert "gadc" in MODELS
        assert "thing" not in MODELS
    sys.modules.pop("broken", None)


def test_a_plugin_cannot_replace_a_builtin_model(tmp_path, monkeypatch):
    install(tmp_path, "usurper", "from gadc.models import GCN", "[gadc.models]\ngadc = usurper:GCN\n")
    monkeypatch.syspath_prepend(tmp_path)
    with restored_registries(reload=True), pytest.warns(UserWarning, match="the name 'gadc' is taken"):
        assert MODELS["gadc"].__name__ == "GADC"


@pytest.mark.parametrize("name", ["", "a/b", " a", None])
def test_register_refuses_names_that_no_command_could_take(name):
    with pytest.raises(ValueError, match="register: name must be text without slashes"):
        register_model(name, FeatureModel)


def test_register_refuses_builtin_names_and_other_things():
    with pytest.raises(ValueError, match=r"built-in name of gadc.models, got 'gcn'"):
        register_model("gcn", FeatureModel)
    with pytest.raises(ValueError, match="built-in table, got 'cost'"):
        register_table("cost", {})
    with pytest.raises(TypeError, match=r"must be a subclass of gadc\.robustness\.EdgeAttack"):
        register_attack("mine", FeatureModel)
    with pytest.raises(TypeError, match="must be a function"):
        register_dataset("mine", csbm(30, num_features=2, seed=0))
    with pytest.raises(ValueError, match="must have title, source, runs, columns, rows"):
        register_table("mine", {})


def test_registered_things_are_known_at_once(tmp_path):
    class Again(RandomFlips):
        pass

    register_attack("again", Again)
    assert ATTACKS["again"] is Again
    file = tmp_path / "mine.toml"
    file.write_text('title = "T"\nsource = "s"\nruns = 1\ncolumns = []\nrows = []\n')
    assert register_table("mine", file).title == "T"


def _register_changed(**changes):
    data = csbm(60, num_features=4, seed=0)
    for mask in ("train_mask", "val_mask", "test_mask"):
        data[mask] = torch.zeros(60, dtype=torch.bool)
    data.train_mask[:3] = True
    for name, value in changes.items():
        data[name] = value
    register_dataset("mine", lambda: data)


def test_masks_of_a_dataset_are_its_own_split():
    _register_changed()
    assert load("mine").train_mask.sum() == 3
    assert card("mine").features == 4
    assert card("mine").classes == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edge_weight": torch.ones(10)}, "edge_weight"),
        ({"test_mask": None}, "all of train_mask, val_mask, test_mask or none"),
        ({"y": None}, "must have y"),
        (
            {"train_mask": torch.ones(60, dtype=torch.bool), "val_mask": torch.ones(60, dtype=torch.bool)},
            "one of",
        ),
    ],
)
def test_a_dataset_that_would_lose_something_is_refused(changes, message):
    _register_changed(**changes)
    with pytest.raises(ValueError, match=message):
        load("mine")


def test_a_dataset_must_return_data():
    register_dataset("mine", dict)
    with pytest.raises(TypeError, match="data set 'mine': data must be a PyTorch Geometric Data"):
        load("mine")


def test_an_error_of_gadc_has_no_foreign_line():
    try:
        load("cornell")
    except ValueError as error:
        failure = error.with_traceback(error.__traceback__.tb_next)  # without the line of this test
    assert foreign_line(failure) is None


def test_a_registry_may_be_read_while_its_plugins_load(tmp_path, monkeypatch):
    install(
        tmp_path, "reader", "import reader_registry as r\nvalue = len(r.SEEN)", "[test.g]\nb = reader:value\n"
    )
    registry = Registry("test.g", {"a": 1}, lambda _, value: value)
    monkeypatch.setitem(sys.modules, "reader_registry", type(sys)("reader_registry"))
    sys.modules["reader_registry"].SEEN = registry
    monkeypatch.syspath_prepend(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dict(registry) == {"a": 1, "b": 1}
    sys.modules.pop("reader", None)
