"""The tables: the code knows every name and key, and every published figure is the paper's."""

import csv
import inspect
from dataclasses import fields
from pathlib import Path

import pytest

from gadc import datasets
from gadc.datasets.named._registry import record
from gadc.experiments import Cell, Column, Table, load_table, table_names
from gadc.experiments._measures import MEASURES
from gadc.experiments._tables import home_of, parse_table
from gadc.models import MODELS, make_model
from gadc.transforms import make_noise

SETS = ("cora", "citeseer", "pubmed")
COAUTHOR = ("coauthor-cs-0.1", "coauthor-cs-1", "coauthor-physics-0.1", "coauthor-physics-1")
PRODUCTS = ("products-0.1", "products-1")
STAND_INS = ("wordnet-0.1", "arxiv-sized-1", "products-sized-1")


def _columns(names: tuple[str, ...], *parts: tuple[str, ...]) -> set[str]:
    """Combine names to columns such as cora-evasion-transfer."""
    columns = set(names)
    for values in parts:
        columns = {f"{column}-{value}" for column in columns for value in values}
    return columns


DENOISERS = {"mlp", "gcn", "gat", "appnp", "glp", "s2gc", "irls"}
# Names in commands and results: (rows of the paper, columns).
NAMES: dict[str, tuple[set[str], set[str]]] = {
    "metattack": (
        {"gcn", "gat", "appnp", "s2gc", "nagphormer", "robust-gcn", "gcn-jaccard", "gcn-svd", "pro-gnn"}
        | {"gnnguard", "elastic", "stable", "evennet", "gcn-garnet", "hang-quad", "gadc-iv"},
        _columns(SETS, ("0.25", "0.5", "0.75")),
    ),
    "adaptive": (
        {"gcn", "svd-gcn", "gnnguard", "soft-median-gdc", "gadc-iv"},
        _columns(("cora", "citeseer"), ("evasion", "poisoning"), ("transfer", "adaptive")),
    ),
    "gaussian": (
        DENOISERS | {"airgnn", "gadc-ii"},
        _columns(("cora", "citeseer"), ("0.1", "0.2", "0.3", "0.4", "0.5", "100"))
        | _columns(("pubmed",), ("0.01", "0.02", "0.03", "0.04", "0.05", "100")),
    ),
    "coauthor": (DENOISERS | {"gadc-ii"}, set(COAUTHOR)),
    "products": ({"mlp", "gcn", "s2gc", "gadc-iii"}, {*PRODUCTS, *STAND_INS}),
    "ablation": ({"gadc-eps0", "gadc"}, {"cora-0.1", "cora-0.5", *COAUTHOR, *PRODUCTS}),
    "flip": (DENOISERS | {"gadc-ii"}, _columns(SETS, ("0.1", "0.2", "0.4"))),
    "heterophily": (
        {f"gadc-i-eps{eps}" for eps in range(5)},
        {"cornell-as-published", "cornell-corrected", "texas", "wisconsin", "actor"},
    ),
}
TABLES = [load_table(name) for name in table_names()]
COLUMNS = [
    pytest.param(column, id=f"{table.name}/{column.name}") for table in TABLES for column in table.columns
]
CELLS = [
    pytest.param(cell, id=f"{table.name}/{cell.row.name}/{cell.column.name}")
    for table in TABLES
    for cell in table.cells()
    if cell.column.name not in cell.row.same_as
]


def test_tables_of_the_paper_are_all_there() -> None:
    assert set(NAMES) <= set(table_names())


@pytest.mark.parametrize("name", NAMES)
def test_names_of_rows_and_columns_are_fixed(name: str) -> None:
    table = load_table(name)
    rows, columns = NAMES[name]
    assert {row.name for row in table.rows if not row.companion} == rows
    assert {column.name for column in table.columns} == columns


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_names_are_unique_and_refer_to_columns(table: Table) -> None:
    rows, columns = [row.name for row in table.rows], [column.name for column in table.columns]
    assert len(set(rows)) == len(rows)
    assert len(set(columns)) == len(columns)
    for row in table.rows:
        assert {*row.cells, *row.only, *row.same_as, *row.published} <= set(columns), row.name


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_notes_are_whole_sentences(table: Table) -> None:
    assert table.notes
    for note in table.notes:
        assert len(note.split()) > 3
        assert note.endswith(".")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_cells_with_runs_in_another_table_are_found_there(table: Table) -> None:
    for row in table.rows:
        for name in row.same_as:
            home = home_of(table.cell(row.name, name))
            assert home.table.name != table.name
            assert home.column.name == name
            assert home.row.runs_in(name), row.name
            assert name not in home.row.same_as, "a chain"
            assert home.row.published.get(name, row.published[name])[0] == row.published[name][0] or (
                home.table.name == "products"  # the ablation prints one digit less
            )


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_companions_have_a_model_and_no_published_figure(table: Table) -> None:
    for row in table.rows:
        if row.companion:
            assert row.model is not None or row.measure is not None, row.name
            assert not row.published, row.name


@pytest.mark.parametrize("column", COLUMNS)
def test_data_of_a_column_is_known_to_the_loader(column: Column) -> None:
    if not column.data:
        pytest.skip("a small graph that its measure makes")
    if "generator" in column.data:
        settings = {name: value for name, value in column.data.items() if name != "generator"}
        inspect.signature(datasets.GENERATORS[column.data["generator"]]).bind(**settings)
        return
    inspect.signature(datasets.load).bind(**column.data)
    found = record(column.data["name"])
    assert column.data.get("split", next(iter(found.splits))) in found.splits
    assert found.directed or not column.data.get("directed", False)
    if "attack" in column.data:
        assert column.data["rate"] in found.attacks[column.data["attack"]].files


@pytest.mark.parametrize("column", COLUMNS)
def test_corruption_of_a_column_can_be_built(column: Column) -> None:
    for step in column.corruption:
        assert callable(make_noise(**step, seed=0))


@pytest.mark.parametrize("cell", CELLS)
def test_settings_of_a_cell_are_settings_of_its_model(cell: Cell) -> None:
    row, settings = cell.row, cell.settings
    if row.measure is not None:
        inspect.signature(MEASURES[row.measure]).bind(None, 0, **settings)
        if row.measure == "fit-seconds":
            make_model(settings.pop("of", "gadc"), **{k: v for k, v in settings.items() if k != "times"})
        return
    assert set(settings) <= {field.name for field in fields(MODELS[row.model])}
    made = make_model(row.model, **settings)
    assert {name: getattr(made, name) for name in settings} == settings


def test_published_figures_agree_with_a_second_transcription() -> None:
    with (Path(__file__).parent / "published.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    second = {
        (line["table"], line["row"], line["column"]): (
            float(line["mean"]),
            float(line["std"]) if line["std"] else None,
        )
        for line in lines
    }
    assert len(second) == len(lines), "a figure is there twice"
    first = {
        (table.name, row.name, column): figure
        for table in TABLES
        for row in table.rows
        for column, figure in row.published.items()
        if not table.ahead
    }
    assert first == second


def test_table_of_auto_compares_with_the_best_published_figure() -> None:
    ours = load_table("auto")
    assert ours.ahead
    bar = {column: figure for row in ours.rows for column, figure in row.published.items()}
    assert len(bar) == 18 + 9 + 9 + 4
    for name, figure in bar.items():
        table, _, column = name.partition("-")
        rivals = [row.published[column] for row in load_table(table).rows if column in row.published]
        assert figure == max(rivals, key=lambda rival: rival[0])


def test_parse_table_refuses_an_unknown_key() -> None:
    with pytest.raises(TypeError, match="modell"):
        parse_table("t", {"title": "", "source": "", "runs": 1, "columns": [], "rows": [{"modell": "gadc"}]})
