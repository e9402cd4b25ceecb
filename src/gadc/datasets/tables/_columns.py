"""Which columns of the two tables are read as what."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gadc.datasets.tables._ids import EdgeColumns
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table

_ENDS = (("source", "target"), ("src", "dst"), ("from", "to"))
_IDS = ("id", "node_id", "node")
_LABELS = ("label", "class", "y")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What is read from where; `notes` grows as decisions are taken."""

    edges: EdgeColumns
    nodes: Table
    node_id: str
    label: str | None
    features: list[str]
    notes: list[str]


def choose_columns(
    edges: Table,
    nodes: Table,
    *,
    source: str | None,
    target: str | None,
    weight: str | None,
    node_id: str | None,
    label: str | None,
    features: Sequence[str] | None,
) -> Columns:
    """Settle which columns play which part; what the user did not say is noted."""
    notes: list[str] = []
    if source is None and target is None:
        source, target = _guess_ends(edges, weight)
        notes.append(f"source and target were not named: took {source!r} and {target!r} of {edges.name}")
    if source is None or target is None:
        raise ValueError(f"from_tables: name both of source and target or none, got {source!r}, {target!r}.")
    if len({source, target, weight}) < 3:
        raise TableError("source, target and weight must differ.", file=edges.name, column=source)
    idle = [repr(name) for name in edges.schema if name not in (source, target, weight)]
    notes += [f"not used from {edges.name}: {', '.join(idle)}"] if idle else []
    if node_id is None:
        node_id = _guess(nodes, _IDS) or next(iter(nodes.schema), "id")
        notes.append(f"node_id was not named: took {node_id!r} of {nodes.name}")
    if label is None:
        label = _guess(nodes, _LABELS, skip={node_id, *(features or ())})
        notes += [f"label was not named: took {label!r} of {nodes.name}"] if label is not None else []
    if len({node_id, label, *(features or ())}) < 2 + len(features or ()):
        raise TableError("node_id, label and features must differ.", file=nodes.name, column=node_id)
    edges.require(source, target, weight)
    nodes.require(node_id, label, *(features or ()))
    if features is None:
        features = [name for name in nodes.schema if name not in (node_id, label)]
    ends = EdgeColumns(table=edges, source=source, target=target, weight=weight)
    return Columns(
        edges=ends, nodes=nodes, node_id=node_id, label=label, features=list(features), notes=notes
    )


def _guess(table: Table, names: Sequence[str], skip: Collection[str | None] = ()) -> str | None:
    """The first column that has one of the names, in any case of letters."""
    lower = {name.lower(): name for name in reversed(table.schema) if name not in skip}
    return next((lower[name] for name in names if name in lower), None)


def _guess_ends(table: Table, weight: str | None) -> tuple[str, str]:
    for pair in _ENDS:
        source, target = (_guess(table, [name]) for name in pair)
        if source is not None and target is not None:
            return source, target
    first = [name for name in table.schema if name != weight][:2]
    if len(first) < 2:
        raise TableError(f"an edge table needs two columns, got {list(table.schema)}.", file=table.name)
    return first[0], first[1]
