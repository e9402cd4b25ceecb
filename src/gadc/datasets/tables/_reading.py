"""The way from two opened tables to `Data`: columns, ids, edges, features, labels, report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gadc._base.deferred import deferred
from gadc.datasets.tables._columns import (
    EdgeColumns,
    NodeColumns,
    choose_edge_columns,
    choose_node_columns,
    leave_out,
)
from gadc.datasets.tables._dialect import CsvOptions
from gadc.datasets.tables._edges import Edges, clean_edges
from gadc.datasets.tables._expressions import columns_of, is_expression
from gadc.datasets.tables._features import FeatureReader
from gadc.datasets.tables._files import TableLike, open_table
from gadc.datasets.tables._ids import Nodes, read_ids
from gadc.datasets.tables._labels import read_labels
from gadc.datasets.tables._matching import Matched, match
from gadc.datasets.tables._preparation import FeaturePreparation
from gadc.datasets.tables._problems import Problems
from gadc.datasets.tables._relations import clean_relations
from gadc.datasets.tables._report import TableError, TableReport
from gadc.datasets.tables._table import Table
from gadc.datasets.tables._targets import read_targets
from gadc.datasets.tables._times import TimedEdges, TimeWindow, apply_times
from gadc.datasets.tables._weights import fit_weights

if TYPE_CHECKING:
    from torch_geometric.data import Data

with deferred():
    import torch
    import torch_geometric

    from gadc.datasets import _border as border


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the caller of `from_tables` chose; see there.

    Args:
        edge_roles: Columns of source, target, weight, time and relation; None is chosen by the preparation or
            guessed.
        node_roles: Columns of node_id and label, likewise.
        task: "classify" reads classes, "regress" numbers, "multilabel" 0 and 1 from several columns.
        more_labels: Columns of labels after the first one.
    """

    edge_roles: dict[str, str | None]
    node_roles: dict[str, str | None]
    features: Sequence[str] | None
    exclude: Sequence[str]
    categorical: str
    missing: str
    unknown: str
    directed: bool
    preparation: FeaturePreparation | None
    keep_rows: bool
    csv_options: CsvOptions | None
    repair: frozenset[str]
    weight_scale: str
    window: TimeWindow
    signed: bool
    task: str = "classify"
    more_labels: Sequence[str] = ()


def read_tables(edges: TableLike, nodes: TableLike, choices: Choices) -> Data:
    """Read a graph; all problems are raised in one error."""
    problems = Problems(repair=choices.repair, at_once=False)
    ends, columns, notes = _choose_columns(edges, nodes, choices, problems)
    ids = read_ids(columns.table, columns.node_id, problems)
    columns = replace(columns, table=columns.table.without(ids.left_out))
    window = _window(choices)
    timed = TimedEdges(columns=ends)
    with problems.collecting():
        timed = apply_times(ends, window, problems)
    ends, notes = replace(timed.columns, signed=choices.signed), [*notes, *timed.notes]
    matched = match(ends, ids, choices.unknown, numbered=choices.keep_rows, problems=problems)
    known = matched.nodes
    reader, x = _read_features(columns, known, choices, problems)
    answers = _Answers()
    with problems.collecting():
        answers = _read_answers(columns, known, choices)
    if ends.relation is None:
        problems.check()  # so far without torch, which takes seconds to import
    graph, kinds, matched, rows = _read_edges(matched, ends, choices, problems)
    problems.check()
    data = torch_geometric.data.Data(
        edge_index=graph.edge_index, num_nodes=len(known.ids), node_ids=known.ids.to_list()
    )
    if rows is not None:
        data.table_rows = rows
    if kinds is not None:
        data.edge_type, data.relation_names = kinds
    if x.shape[1]:
        data.x = torch.from_numpy(x)
    data.feature_names = reader.names
    answers.set(data)
    notes += answers.notes
    notes += known.notes + reader.notes + problems.notes
    notes += _set_weights(data, graph, choices)
    data.feature_preparation = replace(
        reader.preparation,
        roles=_roles(ends, columns),
        weight_scale=data.pop("weight_scale", None),
        repair=tuple(sorted(choices.repair)),
        exclude=tuple(choices.exclude),
        window=None if window == TimeWindow() else window,
    )
    report = _report(data, ends, columns, graph, reader, matched=matched, notes=notes)
    data.table_report = report.with_left_out(later=timed.later, unusable=timed.unusable)
    data = border.check_graph("from_tables", data)
    preparation = choices.preparation
    return data if preparation is None or data.x is None else preparation.apply(data)


@dataclass(frozen=True, kw_only=True)
class _Answers:
    """What the label columns hold, as attributes of `Data`; arrays become tensors."""

    values: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def set(self, data: Data) -> None:
        for name, value in self.values.items():
            data[name] = torch.from_numpy(value) if isinstance(value, np.ndarray) else value


def _read_answers(columns: NodeColumns, known: Nodes, choices: Choices) -> _Answers:
    """Read classes or targets; nodes without a row have none."""
    if columns.label is None:
        return _Answers()
    if choices.task == "classify":
        y, class_names, notes = read_labels(columns.table, known.rows, columns.label)
        every = np.concatenate([y, np.full(len(known.ids) - len(known.rows), -1)])
        return _Answers(values={"y": every, "class_names": class_names}, notes=notes)
    names = [str(columns.label), *choices.more_labels]
    flags = choices.task == "multilabel"
    values = read_targets(columns.table, known.rows, names, flags=flags)
    filled = np.full((len(known.ids), len(names)), np.nan)
    filled[: len(values)] = values
    return _Answers(values={"target": filled if flags else filled[:, 0], "target_names": names})


def _window(choices: Choices) -> TimeWindow:
    """Return which edges are read by their time; what the caller leaves open is as in the preparation."""
    known = None if choices.preparation is None else choices.preparation.window
    given = choices.window
    if known is None:
        return given
    return TimeWindow(
        until=known.until if given.until is None else given.until,
        half_life=known.half_life if given.half_life is None else given.half_life,
    )


def _choose_columns(
    edges: TableLike, nodes: TableLike, choices: Choices, problems: Problems
) -> tuple[EdgeColumns, NodeColumns, list[str]]:
    """Open both tables and choose their columns; what is wrong with either is said at once."""
    notes: list[str] = []
    ends: EdgeColumns | None = None
    columns: NodeColumns | None = None
    with problems.collecting():
        table = open_table(edges, "edges", choices.csv_options)
        notes += table.notes
        ends = choose_edge_columns(table, **_named(table, choices.edge_roles, choices), notes=notes)
    with problems.collecting():
        table = open_table(nodes, "nodes", choices.csv_options)
        notes += table.notes
        named = _named(table, choices.node_roles, choices)
        if choices.preparation is None:
            table.require(*choices.exclude)
        columns = choose_node_columns(
            table, **named, features=choices.features, notes=notes, exclude=choices.exclude
        )
        columns = leave_out(columns, choices.more_labels)
    problems.check()
    assert ends is not None and columns is not None  # noqa: S101, PT018 (otherwise there was a problem)
    return ends, columns, notes


def _named(table: Table, roles: dict[str, str | None], choices: Choices) -> dict[str, str | None]:
    """Return the columns that the caller named, or else those of the table of the preparation."""
    known = {} if choices.preparation is None else choices.preparation.roles
    named = dict(roles)
    for role, column in roles.items():
        before = known.get(role.replace("_", " "))
        if column is None and (before in table.schema or _is_readable(table, role, before)):
            named[role] = before
        elif column is None and before is not None and role in ("weight", "time", "relation"):
            raise TableError(
                f"the preparation was fitted on a graph with {role}s in this column, which this table does "
                f"not have; name the column of the {role}s in `{role}`.",
                file=table.name,
                column=before,
            )
    if "source" in named and None in (named["source"], named["target"]) and roles["source"] is None:
        named["source"] = named["target"] = roles["target"]  # only one of the two is there: guess both
    return named


def _is_readable(table: Table, role: str, column: str | None) -> bool:
    """Tell whether the weights of the preparation are an expression of columns that this table has."""
    if role != "weight" or column is None or not is_expression(table, column):
        return False
    return set(columns_of(table, column)) <= set(table.schema)


def _read_edges(
    matched: Matched, ends: EdgeColumns, choices: Choices, problems: Problems
) -> tuple[Edges, tuple[torch.Tensor, list[str]] | None, Matched, torch.Tensor | None]:
    """Read edges, relations and perhaps rows from the table of positions."""
    frame = matched.frame
    weight = frame["w"].to_numpy() if ends.is_weighted else None
    num_nodes, directed, kinds = len(matched.nodes.ids), choices.directed, None
    if ends.relation is not None:
        graph, kind, names = clean_relations(frame, ends, num_nodes, directed=directed, problems=problems)
        kinds = kind, names
    else:
        ends_of = frame["s"].to_numpy(), frame["t"].to_numpy()
        graph = clean_edges(*ends_of, weight, num_nodes, directed=directed)
    rows = (
        frame.select("s", "t", "row").cast(pl.Int64).sort("row").to_torch().T if choices.keep_rows else None
    )
    return graph, kinds, replace(matched, frame=frame.clear()), rows


def _read_features(
    columns: NodeColumns, known: Nodes, choices: Choices, problems: Problems
) -> tuple[FeatureReader, NDArray[np.float32]]:
    """Read the features; without columns if something is wrong with them."""
    reader = FeatureReader(
        table=columns.table,
        rows=known.rows,
        added=len(known.ids) - len(known.rows),
        named=choices.features is not None,
        categorical=choices.categorical,
        missing=choices.missing,
        known=choices.preparation,
        problems=problems,
        left_out=dict.fromkeys(choices.exclude if choices.preparation is None else (), "it is excluded"),
    )
    x = np.empty((len(known.ids), 0), dtype=np.float32)
    with problems.collecting():
        x = reader.read(columns.features)
    return reader, x


def _set_weights(data: Data, graph: Edges, choices: Choices) -> list[str]:
    """Set `edge_weight`, compressed as requested, and `weight_scale`; return a note on it."""
    known = choices.preparation
    scale = known.weight_scale if known is not None else fit_weights(graph.edge_weight, choices.weight_scale)
    data.edge_weight = graph.edge_weight
    if scale is None or graph.edge_weight is None:
        return []
    data.edge_weight, data.weight_scale = scale.apply(graph.edge_weight), scale
    return [scale.describe()]


def _roles(ends: EdgeColumns, columns: NodeColumns) -> dict[str, str]:
    """Return what the columns were read as."""
    roles = {
        "source": ends.source,
        "target": ends.target,
        "weight": ends.weight,
        "time": ends.time,
        "relation": ends.relation,
        "node id": columns.node_id,
        "label": columns.label,
    }
    return {role: name for role, name in roles.items() if name is not None}


def _report(
    data: Data,
    ends: EdgeColumns,
    columns: NodeColumns,
    graph: Edges,
    reader: FeatureReader,
    *,
    matched: Matched,
    notes: list[str],
) -> TableReport:
    if graph.both_ways and ends.is_weighted:
        notes.append(
            f"{graph.both_ways:,} edges are listed in both directions; their weight is the mean of the two"
        )
    x = data.x
    constant = torch.nonzero(x.amin(0) == x.amax(0)).flatten().tolist() if x is not None else []
    return TableReport(
        edges_file=ends.table.name,
        nodes_file=columns.table.name,
        columns=_roles(ends, columns),
        rows=graph.rows + matched.unknown + matched.unusable,
        self_loops=graph.self_loops,
        unknown=matched.unknown,
        unusable=matched.unusable,
        duplicates=graph.duplicates,
        edges=graph.count,
        directed=graph.directed,
        nodes=data.num_nodes,
        added=reader.added,
        isolated=graph.isolated,
        labelled=_count_labelled(data),
        features=reader.names,
        constant=[reader.names[i] for i in constant],
        imputed=reader.imputed,
        left_out=reader.left_out,
        notes=notes,
    )


def _count_labelled(data: Data) -> int:
    """Return the number of nodes whose class or target is known."""
    if data.get("target") is not None:
        return int((~data.target.reshape(len(data.target), -1).isnan().any(1)).sum())
    return 0 if data.y is None else int((data.y >= 0).sum())
