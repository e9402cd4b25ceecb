"""The tables that there are: TOML files in the folder `tables`."""

from __future__ import annotations

import sys
from functools import cache
from importlib import resources
from typing import Any

from gadc.experiments._spec import Cell, Column, Row, Table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# In the order of the paper, then additional tables.
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
    "auto",
)


def table_names() -> list[str]:
    """List the names of all tables, in the order of the paper."""
    folder = resources.files(__package__) / "tables"
    there = {item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")}
    return [name for name in _ORDER if name in there] + sorted(there.difference(_ORDER))


@cache
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


def home_of(cell: Cell) -> Cell:
    """Find the cell where the runs of a cell are made and stored: itself, or a cell of another table."""
    if cell.column.name not in cell.row.same_as:
        return cell
    other, _, row = cell.row.same_as[cell.column.name].partition("/")
    home = load_table(other)
    return Cell(home, home.row(row), home.column(cell.column.name))
