"""The model of `gadc attack` and `gadc audit`, as the option --model names it."""

import re

import pytest

from gadc.cli._options.defender import DEFAULT_MODEL, find_model, load_hook, make_defender
from gadc.experiments import load_table, table_names
from gadc.models import MODELS, make_model
from tests.helpers.paths import ROOT

PAGES = ("README.md", "docs/how-to/command-line.md", "docs/how-to/attacks.md")


def test_a_row_has_exactly_the_settings_of_its_table():
    row = load_table("adaptive").row("gadc-iv")
    assert find_model("adaptive/gadc-iv") == (row.model, row.settings)
    assert make_defender(None, None, None)[0] == DEFAULT_MODEL == "adaptive/gadc-iv"


def test_settings_that_depend_on_the_column_need_its_name():
    column = "citeseer-evasion-adaptive"
    row = load_table("adaptive").row("gadc-iv-plus")
    kind, settings = find_model(f"adaptive/gadc-iv-plus/{column}")
    assert (kind, settings) == (row.model, {**row.settings, **row.cells[column]})
    assert settings["anchor"] != row.settings["anchor"]
    with pytest.raises(
        ValueError, match=f"depend on the column; use one of .*adaptive/gadc-iv-plus/{column}"
    ):
        find_model("adaptive/gadc-iv-plus")


def test_a_bare_row_name_is_refused_with_the_qualified_names():
    with pytest.raises(
        ValueError, match="named together with its table: metattack/gadc-iv, adaptive/gadc-iv"
    ):
        find_model("gadc-iv")


def test_a_model_name_means_the_defaults_of_the_model():
    assert find_model("gcn") == ("gcn", {})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gadc-v", f"the name must be TABLE/ROW or one of {', '.join(MODELS)}, got 'gadc-v'"),
        ("table/gadc-iv", "TABLE/ROW or TABLE/ROW/COLUMN with a table of metattack, adaptive"),
        ("adaptive/gadc-iv/cora/3", "TABLE/ROW or TABLE/ROW/COLUMN"),
        ("adaptive/other", "row must be one of gcn"),
        ("adaptive/gadc-iv/cora", "column must be one of cora-evasion-transfer"),
        ("connectivity/plain", "has no model"),
    ],
)
def test_an_unknown_model_is_refused(name, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        find_model(name)


def test_every_row_with_a_model_can_be_named():
    for table in map(load_table, table_names()):
        for row in table.rows:
            if row.model is not None:
                suffix = f"/{table.columns[0].name}" if row.cells else ""
                kind, settings = find_model(f"{table.name}/{row.name}{suffix}")
                assert isinstance(make_model(kind, **settings), MODELS[kind])


def test_the_guides_name_models_that_exist():
    named = [
        name
        for page in PAGES
        for name in re.findall(r"--model ([\w./+-]+)", (ROOT / page).read_text(encoding="utf-8"))
        if name != "FILE"
    ]
    assert "adaptive/gadc-iv" in named
    for name in named:
        find_model(name)


def test_a_hook_that_is_not_python_is_refused(tmp_path):
    (tmp_path / "mine.py").write_text("def fit(:\n")
    with pytest.raises(ValueError, match=r"--hook: .*mine\.py is not Python: .*line 1"):
        load_hook(f"{tmp_path / 'mine.py'}:fit")
