"""Columns from which the label can be read.

A single column that predicts the label almost perfectly is more often a copy of the label, or something that
was filled in after the label was known, than a good feature. Each column alone predicts the class by the
majority in 32 bins of its values (out of fold). For comparison the table lists what the edges alone
give (the majority of the neighbours) and what the order of the rows gives.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from gadc.lab._findings import Findings
from gadc.lab._kind import Kind
from gadc.lab._view import GraphView, Integers

_LEAK = 0.95  # balanced accuracy of one column from which the label counts as readable
_BINS = 32
_LEAST = 20  # labelled nodes
_MOST = 20_000  # labelled nodes that are looked at
_EDGES, _ORDER = "(edges alone)", "(order of the rows)"


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
        names, accuracies = (
            [_EDGES, _ORDER],
            [_by_neighbors(view, nodes), _by_column(nodes.astype(float), y, fold)],
        )
        for number, values in _columns(view, nodes, y):
            names.append(view.columns[number])
            accuracies.append(_by_column(values, y, fold))
        accuracy = np.array(accuracies)
        is_issue = (accuracy >= _LEAK) & (len(nodes) >= _LEAST)
        is_issue[:2] = False
        order = np.argsort(-accuracy, kind="stable")
        reasons = [_reason(accuracy[i]) if is_issue[i] else None for i in order]
        frame = pl.DataFrame({"column": [names[i] for i in order], "is_issue": is_issue[order]}).with_columns(
            score=pl.Series(1 - accuracy[order]),
            probability=pl.lit(None, pl.Float64),
            reasons=pl.Series(reasons, dtype=pl.String),
            accuracy=pl.Series(accuracy[order]),
        )
        flagged = [names[i] for i in order if is_issue[i]]
        return Findings(frame=frame, summary=_sentence(flagged, accuracy), notes=_notes(accuracy))


def _sentence(flagged: list[str], accuracy: NDArray[np.float64]) -> str:
    if flagged:
        return f"The label can be read from {len(flagged)} columns: {', '.join(map(repr, flagged[:5]))}."
    best = accuracy[2:].max(initial=0.0)
    return f"No leak was found: the best single column has a balanced accuracy of {100 * best:.0f} %."


def _notes(accuracy: NDArray[np.float64]) -> tuple[str, ...]:
    notes = []
    if accuracy[0] >= _LEAK:
        notes.append(
            f"The classes of the neighbours alone give {100 * accuracy[0]:.0f} %: make sure that no edge "
            "was drawn because of the label."
        )
    if accuracy[1] >= _LEAK:
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
