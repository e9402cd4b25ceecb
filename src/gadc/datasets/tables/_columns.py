"""Which columns of the two tables are read as ends, weight, id, label and features."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import polars as pl

from gadc.datasets.tables._expressions import columns_of, is_expression
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table

_ENDS = (("source", "target"), ("src", "dst"), ("from", "to"))
_IDS = ("id", "node_id", "node")
_LABELS = ("label", "class", "y")
_WEIGHTS = ("weight", "amount", "value", "count")


@dataclass(frozen=True, kw_only=True)
class EdgeColumns:
    """The edge table and its columns.

    Args:
        table: The table.
        source: Column of one end.
        target: Column of the other end.
        weight: Column of the weights, or an expression of columns; None without weights.
        time: Column of the times. Default: None, no times.
        decay: What weights are multiplied by, by the time of the edge. Default: None, nothing.
        signed: Whether weights may be negative. Default: no.
        relation: Column of the relations. Default: None, one relation.
    """

    table: Table
    source: str
    target: str
    weight: str | None
    time: str | None = None
    decay: pl.Expr | None = None
    signed: bool = False
    relation: str | None = None

    @property
    def is_weighted(self) -> bool:
        """Whether edges have weights."""
        return self.weight is not None or self.decay is not None


@dataclass(frozen=True, kw_only=True)
class NodeColumns:
    """The node table and its columns."""

    table: Table
    node_id: str
    label: str | None
    features: list[str]


def choose_edge_columns(
    table: Table,
    *,
    source: str | None,
    target: str | None,
    weight: str | None,
    notes: list[str],
    time: str | None = None,
    relation: str | None = None,
) -> EdgeColumns:
    """Choose the columns of an edge table.

    Args:
        table: The edge table.
        source: Column of one end, or None to guess both ends.
        target: Column of the other end, or None to guess both ends.
        weight: Column of the weights, an expression of columns, or None without weights.
        notes: Notes for the report; a guess and unused columns are added to them.
        time: Column of the times. Default: None, no times.
        relation: Column of the relations. Default: None, one relation.
    """
    if source is None and target is None:
        source, target = _guess_ends(table, (weight, time, relation))
        columns = f"{source!r} and {target!r} of {table.name}"
        notes.append(f"source and target were not named; the columns {columns} were used")
    if source is None or target is None:
        raise ValueError(
            f"from_tables: source and target must be named both or not at all, got {source!r} and {target!r}."
        )
    roles = {"source": source, "target": target, "weight": weight, "time": time, "relation": relation}
    named = [column for column in roles.values() if column is not None]
    if len(set(named)) < len(named):
        raise TableError(
            "source, target, weight, time and relation must be different columns.",
            file=table.name,
            column=source,
        )
    if weight is not None and is_expression(table, weight):
        named = [name for name in named if name != weight] + columns_of(table, weight)
    unused = [repr(name) for name in table.schema if name not in named]
    if unused:
        notes.append(f"these columns of {table.name} were not used: {', '.join(unused)}")
    table.require(*named)
    return EdgeColumns(table=table, source=source, target=target, weight=weight, time=time, relation=relation)


def choose_node_columns(
    table: Table,
    *,
    node_id: str | None,
    label: str | None,
    features: Sequence[str] | None,
    notes: list[str],
    exclude: Collection[str] = (),
) -> NodeColumns:
    """Choose the columns of a node table.

    Args:
        table: The node table.
        node_id: Column of the ids, or None to guess it.
        label: Column of the classes, or None to guess whether there is one.
        features: Feature columns, or None for all other columns.
        notes: Notes for the report; guesses are added to them.
        exclude: Columns that are neither features nor guessed to be the label. Default: none.
    """
    named = list(features or ())
    if node_id is None:
        node_id = _guess(table, _IDS) or next(iter(table.schema), "id")
        notes.append(f"node_id was not named; the column {node_id!r} of {table.name} was used")
    if label is None:
        label = _guess(table, _LABELS, skip={node_id, *named, *exclude})
        if label is not None:
            notes.append(f"label was not named; the column {label!r} of {table.name} was used")
    if len({node_id, label, *named}) < 2 + len(named):
        raise TableError(
            "node_id, label and features must be different columns.", file=table.name, column=node_id
        )
    table.require(node_id, label, *named)
    both = [name for name in (node_id, label, *named) if name in exclude]
    if both:
        raise TableError(
            "an excluded column must not be the id, the label or a named feature.",
            file=table.name,
            column=both[0],
        )
    if features is None:
        named = [name for name in table.schema if name not in (node_id, label, *exclude)]
    return NodeColumns(table=table, node_id=node_id, label=label, features=named)


def guess_label(table: Table, skip: Collection[str | None]) -> str | None:
    """Find a column with a usual name of classes."""
    return _guess(table, _LABELS, skip=skip)


def guess_weight(table: Table, skip: Collection[str | None]) -> str | None:
    """Find a column with a usual name of weights."""
    return _guess(table, _WEIGHTS, skip=skip)


def leave_out(columns: NodeColumns, names: Sequence[str]) -> NodeColumns:
    """Return the columns without some features, which hold labels; refuse those with another role."""
    columns.table.require(*names)
    if len({columns.node_id, columns.label, *names}) < 2 + len(names):
        raise TableError(
            "node_id and labels must be different columns.", file=columns.table.name, column=columns.node_id
        )
    return replace(columns, features=[name for name in columns.features if name not in names])


def _guess(table: Table, names: Sequence[str], skip: Collection[str | None] = ()) -> str | None:
    """Find the first of the names that a column has, in upper or lower case."""
    lower = {name.lower(): name for name in reversed(table.schema) if name not in skip}
    return next((lower[name] for name in names if name in lower), None)


def _guess_ends(table: Table, taken: Collection[str | None]) -> tuple[str, str]:
    """Find columns with the usual names of the two ends, or take the first two columns."""
    for pair in _ENDS:
        source, target = (_guess(table, [name]) for name in pair)
        if source is not None and target is not None:
            return source, target
    first = [name for name in table.schema if name not in taken][:2]
    if len(first) < 2:
        raise TableError(
            f"an edge table must have at least two columns, got {list(table.schema)}.", file=table.name
        )
    return first[0], first[1]
