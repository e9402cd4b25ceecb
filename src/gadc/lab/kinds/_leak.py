"""Columns from which the label can be read.

A single column that predicts the label almost perfectly is more often a copy of the label, or something that
was filled in after the label was known, than a good feature. Each column alone predicts the class by the
majority in 32 bins of its values (out of fold). For comparison the table lists what the edges alone
give (the majority of the neighbours) and what the order of the rows gives. Where the times of edges and
labels are known, edges from after a label are compared with edges from before it (`_later_edges`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from gadc.lab._findings import Findings
from gadc.lab._kind import Kind
from gadc.lab._times import EdgeTimes
from gadc.lab._view import GraphView, Integers
from gadc.lab.kinds._later_edges import LaterEdges, compare_later_edges

_LEAK = 0.95  # balanced accuracy of one column from which the label counts as readable
_BINS = 32
_LEAST = 20  # labelled nodes
_MOST = 20_000  # labelled nodes that are looked at
_EDGES, _ORDER = "(edges alone)", "(order of the rows)"
_BEFORE, _AFTER = "(edges before the label)", "(edges after the label)"


class Leak(Kind):
    """Find columns from which the label can be read.

    Examples:
        >>> import gadc, torch
        >>> from gadc.datasets import csbm
        >>> data = csbm(200, num_features=3, seed=0)
        >>> data.x[:, 1] = data.y * 7.0
        >>> lab = gadc.Lab(data).find_issues(kinds=["leak"])
        >>> lab.issues("leak").filter("is_issue")["column"].to_list()
        ['x1']
    """

    name = "leak"
    title = "Columns from which the label can be read"
    items = "column"
    needs_labels = True

    def find(self, view: GraphView) -> Findings:
        """Judge every column."""
        view.tell("leak: single columns")
        nodes = view.labelled
        if len(nodes) > _MOST:
            nodes = np.sort(view.generator(salt=3).choice(nodes, _MOST, replace=False))
        y = np.unique(view.y[nodes], return_inverse=True)[1]
        fold = view.generator(salt=4).integers(5, size=len(nodes))
        rows = [
            _Row(_EDGES, _by_neighbors(view, nodes)),
            _Row(_ORDER, _by_column(nodes.astype(float), y, fold)),
        ]
        notes = _notes(*(row.accuracy for row in rows))
        single = []
        for number, values in _columns(view, nodes, y):
            accuracy = _by_column(values, y, fold)
            leaks = accuracy >= _LEAK and len(nodes) >= _LEAST
            single.append(_Row(view.columns[number], accuracy, _reason(accuracy) if leaks else None))
        summary = _sentence(single)
        if view.times is not None:
            view.tell("leak: edges by time")
            later = compare_later_edges(view, view.times)
            rows += _time_rows(later, view.times)
            notes += _time_notes(later, view.times)
            summary += _time_sentence(later, view.times)
        return Findings(frame=_frame([*rows, *single]), summary=summary, notes=notes)


class _Row(NamedTuple):
    """What one column, or the edges, give; with a reason if this is an issue."""

    name: str
    accuracy: float
    reason: str | None = None


def _frame(rows: list[_Row]) -> pl.DataFrame:
    rows = sorted(rows, key=lambda row: -row.accuracy)
    accuracy = np.array([row.accuracy for row in rows])
    return pl.DataFrame(
        {
            "column": [row.name for row in rows],
            "is_issue": [row.reason is not None for row in rows],
            "score": 1 - accuracy,
            "probability": pl.Series([None] * len(rows), dtype=pl.Float64),
            "reasons": pl.Series([row.reason for row in rows], dtype=pl.String),
            "accuracy": accuracy,
        }
    )


def _time_rows(later: LaterEdges, times: EdgeTimes) -> list[_Row]:
    """Return what edges before and after the label give; later ones are an issue if the graph has them."""
    if later.num_nodes < _LEAST:
        return []
    reason = None
    if later.is_leak and times.is_read:
        reason = (
            "edges from after the label give the class with a balanced accuracy of "
            f"{100 * later.later:.0f} %, as many earlier ones {100 * later.earlier:.0f} %; {_fix(times)}"
        )
    return [_Row(_BEFORE, later.earlier), _Row(_AFTER, later.later, reason)]


def _time_sentence(later: LaterEdges, times: EdgeTimes) -> str:
    if not (later.is_leak and times.is_read):
        return ""
    return (
        f" Edges from after a label tell it better than earlier ones ({100 * later.later:.0f} % against "
        f"{100 * later.earlier:.0f} %)."
    )


def _time_notes(later: LaterEdges, times: EdgeTimes) -> tuple[str, ...]:
    if later.num_nodes < _LEAST:
        return (
            f"Only {later.num_nodes:,} labelled nodes have labelled neighbours both before and after the "
            f"time of the label, so the two cannot be compared; {_LEAST} are needed.",
        )
    figures = f"{100 * later.later:.0f} % against {100 * later.earlier:.0f} % at {later.num_nodes:,} nodes"
    share = f"{100 * later.share:.0f} % of the neighbours are joined by later edges only"
    if not later.is_leak:
        return (f"Later edges do not tell the label much better than as many earlier ones ({figures}).",)
    if times.is_read:
        return (f"Later edges tell the label ({figures}), and {share}: {_fix(times)}.",)
    return (f"Edges after {times.until} would give the label away ({figures}); they were not read.",)


def _fix(times: EdgeTimes) -> str:
    return (
        f"read no edges from after the earliest label, with until={times.until!r} (--until {times.until!r})"
    )


def _sentence(columns: list[_Row]) -> str:
    flagged = [row.name for row in columns if row.reason is not None]
    if flagged:
        return f"The label can be read from {len(flagged)} columns: {', '.join(map(repr, flagged[:5]))}."
    best = max((row.accuracy for row in columns), default=0.0)
    return f"No column is a leak: the best single column has a balanced accuracy of {100 * best:.0f} %."


def _notes(edges: float, order: float) -> tuple[str, ...]:
    notes = []
    if edges >= _LEAK:
        notes.append(
            f"The classes of the neighbours alone give {100 * edges:.0f} %: make sure that no edge "
            "was drawn because of the label."
        )
    if order >= _LEAK:
        notes.append("The rows are ordered by class, so a number of the row must not become a feature.")
    return tuple(notes)


def _reason(accuracy: float) -> str:
    return f"this column alone gives the class with a balanced accuracy of {100 * accuracy:.0f} %"


def _columns(view: GraphView, nodes: Integers, y: Integers) -> list[tuple[int, NDArray[np.float64]]]:
    """Return number and values of the columns; of a sparse matrix, those with entries enough."""
    if view.features is None:
        return []
    if not sparse.issparse(view.features):
        return list(enumerate(view.features[nodes].T.astype(np.float64)))
    columns = sparse.csc_array(view.features[nodes])
    # All nodes whose entry is 0 get the same class, so most of the other classes must have entries.
    needed = _LEAK * (len(y) - np.bincount(y).max()) / 2
    enough = np.flatnonzero(np.diff(columns.indptr) >= needed)
    return [(int(j), columns[:, [j]].toarray().ravel().astype(np.float64)) for j in enough]


def _by_column(values: NDArray[np.float64], y: Integers, fold: Integers) -> float:
    """Predict the class by the majority in bins of one column, out of fold."""
    edges = np.unique(np.quantile(values, np.linspace(0, 1, _BINS + 1)[1:-1]))
    bins = np.searchsorted(edges, values, "right")
    total = np.zeros((len(edges) + 1, int(y.max()) + 1))
    np.add.at(total, (bins, y), 1)
    predicted = np.zeros_like(y)
    for k in range(5):
        held = np.flatnonzero(fold == k)
        own = np.zeros_like(total)
        np.add.at(own, (bins[held], y[held]), 1)
        predicted[held] = (total - own)[bins[held]].argmax(1)
    return _balanced(predicted, y)


def _by_neighbors(view: GraphView, nodes: Integers) -> float:
    """Predict the class by the majority of the neighbours."""
    votes = np.zeros((view.num_nodes, int(view.y.max()) + 1), dtype=np.float32)
    votes[view.labelled, view.y[view.labelled]] = 1
    return _balanced((view.adjacency @ votes)[nodes].argmax(1), view.y[nodes])


def _balanced(predicted: Integers, y: Integers) -> float:
    """Average the share of right answers over the classes."""
    right = (predicted == y).astype(float)
    sizes = np.bincount(y)
    return float((np.bincount(y, right)[sizes > 0] / sizes[sizes > 0]).mean())
