"""Commands know plug-ins, survive broken ones, and show the user's own line."""

import sys

import pytest

from tests.helpers.plugins import install, restored_registries

pytestmark = pytest.mark.filterwarnings("default")

CODE = """
from gadc.datasets import csbm
from gadc.models import FeatureModel

class Failing(FeatureModel):
    def fit(self, data, *, seed=0, callbacks=()):
        raise ValueError("no such column")

def blocks():
    return csbm(60, num_features=4, seed=0)

def broken():
    return {}["gone"]
"""
POINTS = """
[gadc.models]
my-model = cli_plugin:Failing
[gadc.attacks]
my-attack = lost_module:Attack
[gadc.datasets]
my-blocks = cli_plugin:blocks
my-broken = cli_plugin:broken
"""


@pytest.fixture(autouse=True)
def _plugin(tmp_path, monkeypatch):
    install(tmp_path, "cli_plugin", CODE, POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    with restored_registries(reload=True):
        yield
    sys.modules.pop("cli_plugin", None)


def test_data_list_and_info_know_a_plugin(run_json):
    assert {row["name"]: row["here"] for row in run_json("data", "list")}["my-blocks"]
    assert run_json("data", "info", "my-blocks")["nodes"] == 60


def test_the_error_of_a_model_shows_its_line(run, tmp_path):
    words = ("--attack", "random", "--rate", "0.1", "-o", tmp_path / "a.npz")
    code, _, err = run("attack", "--data", "my-blocks", "--model", "my-model", *words)
    assert code == 2
    last = err.splitlines()[-1]
    assert last.startswith("error: no such column (from ")
    assert last.endswith('cli_plugin.py, line 7, in fit: raise ValueError("no such column"))')


def test_the_error_of_a_data_set_is_no_traceback(run):
    code, _, err = run("data", "info", "my-broken")
    assert code == 1
    assert err.startswith("error: KeyError: 'gone' (from ")
    assert err.endswith('line 13, in broken: return {}["gone"])\n')


def test_a_broken_attack_is_one_line_of_warning(run):
    code, _, err = run("audit", "--data", "my-blocks", "--attack", "lost")
    assert code == 2
    warning, error = err.splitlines()
    assert warning.startswith(
        "warning: plug-in 'my-attack' of cli_plugin (gadc.attacks = lost_module:Attack)"
    )
    assert error.startswith("error: --attack: the name must be one of 'random', 'dice'")


def test_the_help_of_attack_lists_plugins(run):
    sys.modules.pop("gadc.cli._attack", None)  # the help is made when the command is imported
    assert "my-attack" in run("attack", "--help")[1]
    sys.modules.pop("gadc.cli._attack", None)


def test_the_error_of_a_hook_shows_its_line(run, tmp_path):
    hook = tmp_path / "hook.py"
    hook.write_text("def fit(data, seed):\n    return data.lost.shape\n")
    words = ("--attack", "random", "--rate", "0.1", "-o", tmp_path / "a.npz")
    code, _, err = run("attack", "--data", "my-blocks", "--hook", f"{hook}:fit", *words)
    assert code == 1
    assert err.endswith(f"(from {hook}, line 2, in fit: return data.lost.shape)\n"), err
