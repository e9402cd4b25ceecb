"""Two kinds of nodes in two tables: `from_bipartite_tables` makes one node table of them.

id            side:id, such as "left:17", so ids of the two sides cannot collide
is right      0 for rows of the left table, 1 for rows of the right one
features      columns of both tables side by side; a column that both have is "name (right)" on the right
              side; cells of the other side are 0, "none" in text columns, the first date in columns of dates
label         one column: named alike in both tables, or in one of them only
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from gadc.datasets.tables._columns import choose_edge_columns, choose_node_columns, guess_label
from gadc.datasets.tables._dialect import CsvOptions
from gadc.datasets.tables._files import TableLike, open_table
from gadc.datasets.tables._from_tables import from_tables
from gadc.datasets.tables._numbers import read_numbers
from gadc.datasets.tables._preparation import FeaturePreparation
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table

if TYPE_CHECKING:
    from torch_geometric.data import Data

INDICATOR = "is right"
_NONE = "none"
_RIGHT_ROLE = "right id"


@dataclass(frozen=True, kw_only=True)
class _Side:
    """The rows of one side: ids, labels and features."""

    ids: pl.Series
    columns: dict[str, pl.Series]
    labels: dict[str, pl.Series]


def from_bipartite_tables(
    edges: TableLike,
    left: TableLike,
    right: TableLike,
    *,
    left_id: str | None = None,
    right_id: str | None = None,
    source: str | None = None,
    target: str | None = None,
    label: str | Sequence[str] | None = None,
    sides: tuple[str, str] = ("left", "right"),
    csv_options: CsvOptions | None = None,
    **options: Any,
) -> Data:
    """Read a graph whose edges join rows of one node table with rows of another, such as users and items.

    Args:
        edges: Path or data frame with one row per edge.
        left: Path or data frame of the nodes that `source` names.
        right: Path or data frame of the nodes that `target` names.
        left_id: Column of the ids of `left`; by default as in the preparation, or `id`, `node_id`, `node` or
            the first column.
        right_id: Column of the ids of `right`, likewise.
        source: Edge column of the left end; by default `source`, `src`, `from` or the first column.
        target: Edge column of the right end; by default `target`, `dst`, `to` or the second column.
        label: Column of the classes, in one of the node tables or in both under the same name; by default
            `label`, `class` or `y`, if there is one.
        sides: What ids of the two sides begin with, ("left", "right") by default.
        csv_options: How text files are written; by default this is found.
        **options: Other options of `from_tables`. `features` are names of the columns of the result.

    Returns:
        Data as `from_tables` describes it, first the nodes of `left`, then of `right`. `node_ids` are text
        such as "left:17". A table without feature columns is allowed: the feature "is right" tells the sides
        apart. In errors, rows of `right` are counted after the rows of `left`.

    Raises:
        TableError: A table cannot be read.

    Examples:
        >>> import polars as pl
        >>> from gadc.datasets import from_bipartite_tables
        >>> users = pl.DataFrame({"id": [1, 2], "age": [31, 27], "label": ["x", "y"]})
        >>> items = pl.DataFrame({"id": [1], "price": [9.5]})
        >>> bought = pl.DataFrame({"user": [1, 2], "item": [1, 1]})
        >>> data = from_bipartite_tables(bought, users, items, sides=("user", "item"))
        >>> data.node_ids, data.feature_names
        (['user:1', 'user:2', 'item:1'], ['is right', 'age', 'price'])
        >>> data.x.tolist(), data.y.tolist()
        ([[0.0, 31.0, 0.0], [0.0, 27.0, 0.0], [1.0, 0.0, 9.5]], [0, 1, -1])
    """
    if len(set(sides)) != 2 or not all(isinstance(side, str) and side for side in sides):
        raise ValueError(f"from_bipartite_tables: sides must be two different names, got {sides!r}.")
    for wrong in ("node_id", "unknown"):
        if options.get(wrong) not in (None, "error", "drop"):
            raise ValueError(f"from_bipartite_tables: {wrong} must not be given, got {options[wrong]!r}.")
    options.pop("node_id", None)
    tables = open_table(left, "left", csv_options), open_table(right, "right", csv_options)
    text = any(table.text for table in tables)
    names = _label_names(label, tables)
    ids = _id_columns(tables, (left_id, right_id), options.get("preparation"))
    parts = [
        _read_side(table, name, names, side, text=text)
        for table, name, side in zip(tables, ids, sides, strict=True)
    ]
    nodes = _join(tables, parts, ids[0], text=text)
    roles = {name: options.get(name) for name in ("weight", "time", "relation")}
    listed, ends = _named_ends(open_table(edges, "edges", csv_options), source, target, roles, sides)
    if options.get("features") is not None:
        options["features"] = [INDICATOR, *(one for one in options["features"] if one != INDICATOR)]
    more: dict[str, Any] = {"source": ends[0], "target": ends[1], "node_id": ids[0], "label": label}
    data = from_tables(listed, nodes, csv_options=csv_options, **more, **options)
    known = data.feature_preparation
    data.feature_preparation = replace(known, roles={**known.roles, _RIGHT_ROLE: ids[1]})
    return data


def _label_names(label: str | Sequence[str] | None, tables: tuple[Table, Table]) -> list[str]:
    """Return the label columns; each must be in one of the tables."""
    if label is None:
        return [name for name in (guess_label(table, ()) for table in tables) if name is not None]
    names = [label] if isinstance(label, str) else list(label)
    for name in names:
        if not any(name in table.schema for table in tables):
            tables[0].require(name)
    return names


def _id_columns(
    tables: tuple[Table, Table], given: tuple[str | None, str | None], known: FeaturePreparation | None
) -> list[str]:
    """Return the columns of the ids: as given, as in the preparation if the table has it, or guessed."""
    roles = {} if known is None else known.roles
    found = []
    for table, name, role in zip(tables, given, ("node id", _RIGHT_ROLE), strict=True):
        table.require(name)
        before = roles.get(role)
        name = before if name is None and before in table.schema else name
        columns = choose_node_columns(table, node_id=name, label=None, features=None, notes=[])
        found.append(columns.node_id)
    return found


def _read_side(table: Table, node_id: str, labels: Sequence[str], side: str, *, text: bool) -> _Side:
    """Read one node table; as text if the other one is a text file."""
    cells = {str(i): table.col(name) for i, name in enumerate(table.schema)}
    frame = table.collect(table.select(**cells))
    found = {name: frame[str(i)].alias(name) for i, name in enumerate(table.schema)}
    ids = _with_side(frame, str(list(table.schema).index(node_id)), side)
    if text and not table.text:
        found = {name: column.cast(pl.String) for name, column in found.items()}
    features = {name: column for name, column in found.items() if name != node_id and name not in labels}
    return _Side(ids=ids, columns=features, labels={name: found[name] for name in labels if name in found})


def _with_side(frame: pl.DataFrame, column: str, side: str) -> pl.Series:
    """Return ids as text that begins with the side; null for an id that is empty or not whole."""
    return frame.select(_tagged(pl.col(column), frame.schema[column], side)).to_series()


def _tagged(cell: pl.Expr, kind: pl.DataType, side: str) -> pl.Expr:
    if kind.is_float():
        cell = pl.when(cell == cell.floor()).then(cell).cast(pl.Int64, strict=False)
    return pl.lit(f"{side}:") + cell.cast(pl.String)


def _join(tables: tuple[Table, Table], parts: list[_Side], node_id: str, *, text: bool) -> Table:
    """Return the rows of both sides below each other."""
    sizes = [len(part.ids) for part in parts]
    if not all(sizes):
        raise TableError(
            "the node table must have at least one row, got none.", file=tables[sizes.index(0)].name
        )
    taken = {node_id, INDICATOR, *(name for part in parts for name in part.labels)}
    columns = {node_id: pl.concat([part.ids for part in parts])}
    shares = [pl.Series([0] * sizes[0]), pl.Series([1] * sizes[1])]
    columns[INDICATOR] = pl.concat(shares).cast(pl.String if text else pl.Float64)
    for place, part in enumerate(parts):
        for name, cells in part.columns.items():
            free = (
                name if name not in taken and name not in columns else f"{name} ({('left', 'right')[place]})"
            )
            columns[free] = _beside(cells, sizes[1 - place], first=place == 0, decimal=tables[place].decimal)
    for name in dict.fromkeys(name for part in parts for name in part.labels):
        halves = [
            part.labels[name] if name in part.labels else pl.Series([None] * size, dtype=pl.String)
            for part, size in zip(parts, sizes, strict=True)
        ]
        kinds = {half.dtype for half, part in zip(halves, parts, strict=True) if name in part.labels}
        kind = kinds.pop() if len(kinds) == 1 else pl.String
        columns[name] = pl.concat([half.cast(kind) for half in halves])
    frame = pl.DataFrame([column.alias(name) for name, column in columns.items()])
    first = next((table for table in tables if table.text), tables[0])
    return replace(
        first,
        name=f"{tables[0].name} and {tables[1].name}",
        frame=frame.lazy(),
        schema=dict(frame.schema),
        text=text,
        keep=None,
    )


def _beside(cells: pl.Series, count: int, *, first: bool, decimal: str | None) -> pl.Series:
    """Return a column with cells for the rows of the other side."""
    other = pl.Series([_filler(cells, decimal)] * count, dtype=cells.dtype)
    return pl.concat([cells, other] if first else [other, cells])


def _filler(cells: pl.Series, decimal: str | None) -> Any:
    """Return what a cell of the other side holds: 0, "none", or a date that is there."""
    if cells.dtype == pl.String:
        return "0" if read_numbers(cells, decimal) is not None else _NONE
    if cells.dtype.is_numeric():
        return 0
    filled = cells.drop_nulls()
    return False if cells.dtype == pl.Boolean else (filled[0] if len(filled) else None)


def _named_ends(
    table: Table,
    source: str | None,
    target: str | None,
    roles: dict[str, str | None],
    sides: tuple[str, str],
) -> tuple[Table, tuple[str, str]]:
    """Return the edge table with sides in front of the ids, and the names of both ends."""
    chosen = choose_edge_columns(table, source=source, target=target, notes=[], **roles)
    ends = chosen.source, chosen.target
    changed = [
        _tagged(table.col(name), table.schema[name], side).alias(name)
        for name, side in zip(ends, sides, strict=True)
    ]
    schema = {**table.schema, **dict.fromkeys(ends, pl.String())}
    return replace(table, frame=table.frame.with_columns(changed), schema=schema), ends
