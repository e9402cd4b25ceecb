"""A table of the paper: its columns (data and corruption), rows (models and settings) and figures.

A cell is one row in one column.

Each table is a TOML file in the folder `tables` beside this file. It holds the settings of every run and the
figure that the paper printed for it, so that a result never stands alone.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, TypeVar

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a table: a data set, and what is done to it.

    Args:
        name: Such as "cora-0.1".
        data: Keyword arguments of `gadc.datasets.load`, or the name of a generator of `gadc.datasets` under
            `generator` and its arguments.
        corruption: Corruptions in order, each with its `name` and settings; the seeds are derived.
        attack: An attack on the trained model, see `gadc.experiments._attacked`; none if empty.
        x: Where the column stands on the axis of a plot.
        series: The curve it belongs to there.
    """

    name: str
    data: dict[str, Any]
    corruption: list[dict[str, Any]] = field(default_factory=list)
    attack: dict[str, Any] = field(default_factory=dict)
    x: float | None = None
    series: str | None = None


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of a table: a model with its settings, and the published figures.

    Args:
        name: Such as "gadc-ii".
        label: What the paper prints, such as "GADC (II)".
        model: Name in `gadc.models`, or None for a baseline that is known by its published figures only.
        measure: Name in `gadc.experiments._measures`, for figures that are no accuracies.
        companion: Whether the row is ours, not the paper's.
        settings: Settings of the model in all columns.
        cells: Settings that differ in a cell of the row, by the name of its column.
        attacked: Settings that differ while the trained model is attacked: under "defence" in columns whose
            attack goes through the defence, under "transfer" in the others, where they replace the surrogate.
            A `model` among them is another one that takes the same weights; under `attack` stand settings of
            the attack.
        only: Names of the columns the row is run in; all of them if empty.
        same_as: Columns whose runs are those of another table, by name -> "table/row": they are made and kept
            there, once.
        runs: Number of runs, where it is not the table's.
        tolerance: As the table's, for this row.
        published: The paper's (mean, standard deviation) by column.
    """

    name: str
    label: str
    model: str | None = None
    measure: str | None = None
    companion: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    cells: dict[str, dict[str, Any]] = field(default_factory=dict)
    attacked: dict[str, dict[str, Any]] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    same_as: dict[str, str] = field(default_factory=dict)
    runs: int | None = None
    tolerance: float | None = None
    published: dict[str, tuple[float, float | None]] = field(default_factory=dict)

    def settings_in(self, column: str) -> dict[str, Any]:
        """The settings of the model in that column."""
        return {**self.settings, **self.cells.get(column, {})}

    def runs_in(self, column: str) -> bool:
        """Whether there is something to run in that column."""
        if column in self.same_as:
            return True
        known = self.model is not None or self.measure is not None
        return known and (not self.only or column in self.only)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the paper, or one of ours.

    Args:
        name: The name of its file.
        title: What it is about.
        source: Where it stands in the paper.
        runs: The paper's number of runs.
        columns: The columns.
        rows: Its lines.
        notes: What a reader should know of the protocol and of figures that differ.
        unit: What the figures are.
        tolerance: How far from the published mean is still a match, if its standard deviation is smaller.
        ahead: Whether the aim is to reach or pass the published figures, not to match them.
    """

    name: str
    title: str
    source: str
    runs: int
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    unit: str = "test accuracy, %"
    tolerance: float = 1.0
    ahead: bool = False

    def column(self, name: str) -> Column:
        """The column of that name."""
        return _find(f"table {self.name!r}: column", self.columns, name)

    def row(self, name: str) -> Row:
        """The row of that name."""
        return _find(f"table {self.name!r}: row", self.rows, name)


@dataclass(frozen=True)
class Cell:
    """One row in one column of a table."""

    table: Table
    row: Row
    column: Column


def home_cell(table: Table, row: Row, column: Column) -> Cell:
    """Find the cell whose runs count here: this one, or the cell of another table that it equals."""
    if column.name not in row.same_as:
        return Cell(table, row, column)
    other, _, name = row.same_as[column.name].partition("/")
    home = load_table(other)
    return Cell(home, home.row(name), home.column(column.name))


# As they come in the paper, then ours.
_ORDER = (
    "metattack",
    "adaptive",
    "gaussian",
    "coauthor",
    "products",
    "ablation",
    "flip",
    "heterophily",
    "error-analysis",
    "connectivity",
    "cost",
    "best",
)


def table_names() -> list[str]:
    """The tables there are, in the order of the paper."""
    folder = resources.files(__package__) / "tables"
    there = {item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")}
    return [name for name in _ORDER if name in there] + sorted(there.difference(_ORDER))


def load_table(name: str) -> Table:
    """Read the table of that name."""
    if name not in table_names():
        raise ValueError(f"load_table: name must be one of {', '.join(table_names())}, got {name!r}.")
    text = (resources.files(__package__) / "tables" / f"{name}.toml").read_text(encoding="utf-8")
    return parse_table(name, tomllib.loads(text))


def parse_table(name: str, content: dict[str, Any]) -> Table:
    """Turn the content of a TOML file into a table; an unknown key is an error."""
    content = dict(content)
    columns = tuple(Column(**column) for column in content.pop("columns"))
    rows = tuple(_parse_row(row) for row in content.pop("rows"))
    notes = tuple(content.pop("notes", ()))
    return Table(name=name, columns=columns, rows=rows, notes=notes, **content)


def _parse_row(row: dict[str, Any]) -> Row:
    published = {
        column: (float(figure[0]), float(figure[1]) if len(figure) > 1 else None)
        for column, figure in row.get("published", {}).items()
    }
    return Row(**{**row, "published": published, "only": tuple(row.get("only", ()))})


_Named = TypeVar("_Named", Column, Row)


def _find(what: str, items: tuple[_Named, ...], name: str) -> _Named:
    for item in items:
        if item.name == name:
            return item
    raise ValueError(f"{what} must be one of {', '.join(item.name for item in items)}, got {name!r}.")
