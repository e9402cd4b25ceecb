"""What removing an edge does to its two ends: to their predicted classes, and to how they fit in.

    class   a logistic regression reads the features of a node, the mean of its neighbours' features, and the
            classes of its labelled neighbours. Two models learn from one half of the nodes each, and a node
            is judged by the model that has not learned from it, so its own label does not count.
    fit     cosine of the features of a node with the mean of its neighbours' features

All inputs are one step away, hence the row without the edge is exact and cheap.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from gadc.lab._prepared import unit_rows
from gadc.lab._view import GraphView, Integers

_MOST = 2_000  # nodes that a model learns from
_LEAST = 20
_STRENGTH = 10.0  # inverse penalty
_PART = 2**14  # nodes at a time

Shares = NDArray[np.float64]


class Predictions:
    """Predictions at the ends of edges, with and without the edge.

    Args:
        view: The graph.
    """

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._half = view.generator(salt=50).permutation(view.num_nodes) % 2
        self._models: list[LogisticRegression] = []
        if view.num_classes < 2:
            return
        models = [self._learned(view.labelled[self._half[view.labelled] != half]) for half in (0, 1)]
        self._models = [model for model in models if model is not None]

    def _learned(self, nodes: Integers) -> LogisticRegression | None:
        y = self._view.y
        if len(nodes) > _MOST:
            nodes = np.sort(self._view.generator(salt=51).choice(nodes, _MOST, replace=False))
        if len(nodes) < _LEAST or len(np.unique(y[nodes])) < 2:
            return None
        model = LogisticRegression(C=_STRENGTH, max_iter=200, tol=1e-3)
        return model.fit(self._inputs(nodes), y[nodes])

    @property
    def is_known(self) -> bool:
        """Whether there were enough labels to learn from."""
        return len(self._models) == 2

    def of(self, ends: tuple[int, ...]) -> tuple[list[tuple[int, float]], list[tuple[int, float]]] | None:
        """Return class and probability at both ends with the edge, and without it; None without a model."""
        if not self.is_known:
            return None
        nodes, others = np.array(ends), np.array(ends[::-1])
        found = []
        for shares in (self.shares(nodes), self.shares(nodes, others)):
            found.append([(int(row.argmax()), float(row.max())) for row in shares])
        return found[0], found[1]

    def shares(self, nodes: Integers, without: Integers | None = None) -> Shares:
        """Return the probability of each class, shape (k, classes).

        Args:
            nodes: Nodes to judge, shape (k,).
            without: A neighbour of each that is left out, shape (k,); none by default.
        """
        found = np.zeros((len(nodes), int(self._view.y.max()) + 1))
        for half, model in enumerate(self._models):
            own = np.flatnonzero(self._half[nodes] == half)
            for start in range(0, len(own), _PART):
                part = own[start : start + _PART]
                inputs = self._inputs(nodes[part], None if without is None else without[part])
                found[np.ix_(part, model.classes_)] = model.predict_proba(inputs)
        return found

    def _inputs(self, nodes: Integers, without: Integers | None = None) -> NDArray[np.float32]:
        """Compute the inputs of nodes, each without one of its neighbours if it is named."""
        view = self._view
        around, votes = view.adjacency[nodes] @ view.rows, view.adjacency[nodes] @ self._votes
        if without is not None:
            around, votes = around - view.rows[without], votes - self._votes[without]
        votes = votes / np.maximum(votes.sum(1, keepdims=True), 1)
        return np.concatenate([unit_rows(view.rows[nodes]), unit_rows(around), votes], axis=1)

    @cached_property
    def _votes(self) -> NDArray[np.float32]:
        view = self._view
        votes = np.zeros((view.num_nodes, int(view.y.max()) + 1), dtype=np.float32)
        votes[view.labelled, view.y[view.labelled]] = 1
        return votes


def removal_columns(view: GraphView, pairs: Integers) -> dict[str, pl.Series]:
    """Compute what removing each edge changes at its ends, as columns of the table of edges.

    `effect_source` and `effect_target` are changes of the probability of the class that is predicted with the
    edge (only with labels), `fit_source` and `fit_target` changes of the cosine with the neighbours (only
    with features).

    Args:
        view: The graph.
        pairs: Edges of the graph, shape (2, k).
    """
    found: dict[str, pl.Series] = {}
    ends = {"source": (pairs[0], pairs[1]), "target": (pairs[1], pairs[0])}
    if view.rows.shape[1]:
        for name, (node, other) in ends.items():
            found[f"fit_{name}"] = pl.Series(_fit_change(view, node, other).round(4))
    predictions = Predictions(view)
    if predictions.is_known:
        for name, (node, other) in ends.items():
            before, after = predictions.shares(node), predictions.shares(node, other)
            best = before.argmax(1)[:, None]
            change = np.take_along_axis(after, best, 1) - np.take_along_axis(before, best, 1)
            found[f"effect_{name}"] = pl.Series(change.ravel().round(4))
    return found


def _fit_change(view: GraphView, node: Integers, other: Integers) -> NDArray[np.float64]:
    found = np.zeros(len(node))
    for start in range(0, len(node), _PART):
        one, gone = node[start : start + _PART], other[start : start + _PART]
        own, around = unit_rows(view.rows[one]), view.adjacency[one] @ view.rows
        before, after = (
            np.einsum("ij,ij->i", own, unit_rows(mean)) for mean in (around, around - view.rows[gone])
        )
        found[start : start + _PART] = after - before
    return found
