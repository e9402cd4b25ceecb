"""A table of the paper: its columns (data and corruption), rows (models and settings) and figures.

Each table is a TOML file in the folder `tables` beside this file. It holds the settings of every run and the
figures that the paper printed, so that a result never stands alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gadc.experiments._fingerprint import derive_seed


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a table: a data set, and what is done to it.

    Args:
        name: Name of the column, such as "cora-0.1".
        data: Keyword arguments of `gadc.datasets.load`; or, under `generator`, the name of a generator of
            `gadc.datasets`, with its arguments.
        corruption: Corruptions in order, each with its `name` and settings; their seeds are derived.
        attack: An attack on the trained model, see `gadc.experiments._attacked`; none if empty.
        x: Position of the column on the horizontal axis of a plot, if it has one.
        series: Name of the curve to which the column belongs in the plot.
    """

    name: str
    data: dict[str, Any]
    corruption: list[dict[str, Any]] = field(default_factory=list)
    attack: dict[str, Any] = field(default_factory=dict)
    x: float | None = None
    series: str | None = None


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of a table: a model with its settings, and the published figures.

    Args:
        name: Name of the row, such as "gadc-ii".
        label: Name that the paper prints, such as "GADC (II)".
        model: Name in `gadc.models`; None for a baseline of which only the published figures are known.
        measure: Name in `gadc.experiments._measures`, for figures that are not accuracies.
        companion: Whether the row is an addition that is not in the paper.
        settings: Settings of the model in all columns.
        cells: Settings that differ in a cell of the row, by the name of its column.
        attacked: Settings that differ while the trained model is attacked: under "defence" in columns whose
            attack goes through the defence; under "transfer" in the others, where they replace the
            surrogate. A `model` among them is another model that takes the same weights; `attack` holds
            settings of the attack.
        only: Names of the columns in which the row is run; all columns if empty.
        same_as: Cells whose runs are made and stored in another table: name of the column -> "table/row".
        runs: Number of runs, if it differs from the number of the table.
        tolerance: Tolerance, if it differs from the tolerance of the table.
        published: Published (mean, standard deviation) by the name of the column.
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

    def runs_in(self, column: str) -> bool:
        """Tell whether there is something to run in that column."""
        if column in self.same_as:
            return True
        known = self.model is not None or self.measure is not None
        return known and (not self.only or column in self.only)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the paper, or an additional one.

    Args:
        name: Name of the table and of its file.
        title: Subject of the table.
        source: Number of the table in the paper.
        runs: Number of runs in the paper.
        columns: The columns.
        rows: The rows.
        notes: Remarks on the protocol and on figures that differ, for readers of reports.
        unit: Unit of the figures.
        tolerance: Distance from the published mean that still is a match, if the published standard
            deviation is smaller.
        ahead: Whether the target is to reach or pass the published figures, not to match them.
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
        """Return the column of that name."""
        return _find(f"table {self.name!r}: column", self.columns, name)

    def row(self, name: str) -> Row:
        """Return the row of that name."""
        return _find(f"table {self.name!r}: row", self.rows, name)

    def cell(self, row: str, column: str) -> Cell:
        """Return the cell of that row and column."""
        return Cell(self, self.row(row), self.column(column))

    def cells(self, rows: Sequence[str] | None = None, columns: Sequence[str] | None = None) -> list[Cell]:
        """List the cells that can be run, column by column.

        Args:
            rows: Names of the rows to list; all by default.
            columns: Names of the columns to list; all by default.
        """
        chosen_rows = self.rows if rows is None else [self.row(name) for name in rows]
        chosen_columns = self.columns if columns is None else [self.column(name) for name in columns]
        return [
            Cell(self, row, column)
            for column in chosen_columns
            for row in chosen_rows
            if row.runs_in(column.name)
        ]


@dataclass(frozen=True)
class Cell:
    """One row in one column of a table."""

    table: Table
    row: Row
    column: Column

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the row's model or measure in this cell."""
        return {**self.row.settings, **self.row.cells.get(self.column.name, {})}

    def seed(self, run: int) -> int:
        """Return the seed of a run of this cell."""
        return derive_seed(self.table.name, self.row.name, self.column.name, run)


_Named = TypeVar("_Named", Column, Row)


def _find(what: str, items: tuple[_Named, ...], name: str) -> _Named:
    for item in items:
        if item.name == name:
            return item
    raise ValueError(f"{what} must be one of {', '.join(item.name for item in items)}, got {name!r}.")
