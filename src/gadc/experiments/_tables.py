"""The tables that there are: TOML files in the folder `tables`, and tables of plug-ins."""

from __future__ import annotations

import sys
from functools import cache
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from gadc._base.plugins import Registry
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


def register(name: str, table: str | PathLike[str] | dict[str, Any]) -> Table:
    """Add a table that `gadc reproduce`, `gadc report` and `--model TABLE/ROW` then know by its name.

    Args:
        name: Name of the table; not the name of a built-in one. A table that was registered is replaced.
        table: TOML file of the table, or its content; `Table`, `Column` and `Row` describe the keys.

    Examples:
        >>> from gadc.experiments import register
        >>> column = {"name": "digits", "data": {"name": "digits"}}
        >>> row = {"name": "mlp", "label": "MLP", "model": "mlp"}
        >>> content = {"title": "Mine", "source": "none", "runs": 2, "columns": [column], "rows": [row]}
        >>> register("mine", content).rows[0].label
        'MLP'
    """
    return _PLUGINS.register(name, table)


def _as_table(name: str, table: Any) -> Table:
    """Read the table of a plug-in."""
    if name in _builtin_names():
        raise ValueError(f"register: name must not be the name of a built-in table, got {name!r}.")
    if isinstance(table, str | PathLike):
        table = tomllib.loads(Path(table).read_text(encoding="utf-8"))
    if not isinstance(table, dict):
        raise TypeError(f"register: table {name!r} must be a TOML file or its content, got {table!r}.")
    missing = [key for key in ("title", "source", "runs", "columns", "rows") if key not in table]
    if missing:
        raise ValueError(f"register: table {name!r} must have {', '.join(missing)}.")
    return parse_table(name, table)


_PLUGINS: Registry[Table] = Registry("gadc.tables", {}, _as_table)


def table_names() -> list[str]:
    """List the names of all tables, in the order of the paper, then those of plug-ins."""
    return [*_builtin_names(), *_PLUGINS]


@cache
def _builtin_names() -> tuple[str, ...]:
    folder = resources.files(__package__) / "tables"
    there = {item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")}
    return (*(name for name in _ORDER if name in there), *sorted(there.difference(_ORDER)))


def load_table(name: str) -> Table:
    """Read the table of that name."""
    if name in _builtin_names():
        return _load_builtin(name)
    if name not in _PLUGINS:
        raise ValueError(f"load_table: name must be one of {', '.join(table_names())}, got {name!r}.")
    return _PLUGINS[name]


@cache
def _load_builtin(name: str) -> Table:
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
