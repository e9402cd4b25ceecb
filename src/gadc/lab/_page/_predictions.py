"""What removing an edge does to the predictions at its two ends.

A logistic regression reads the features of a node, the mean of its neighbours' features, and the classes of
its labelled neighbours. It learns from labelled nodes that are not among the ends in question, so no end is
judged by its own label. All inputs are one step away, hence the row without the edge is exact and cheap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from gadc.lab._page._neighborhood import neighbors_of
from gadc.lab._prepared import unit_rows
from gadc.lab._view import GraphView, Integers

_MOST = 5_000  # nodes to learn from
_LEAST = 20
_STRENGTH = 10.0  # inverse penalty

Shares = NDArray[np.float64]


class Predictions:
    """Predictions at the ends of edges, with and without the edge.

    Args:
        view: The graph.
        ends: All nodes that will be asked for; they are not learned from.
    """

    def __init__(self, view: GraphView, ends: Integers) -> None:
        self._view = view
        self._model: LogisticRegression | None = None
        if view.num_classes < 2:
            return
        nodes = np.setdiff1d(view.labelled, ends)
        if len(nodes) > _MOST:
            nodes = np.sort(view.generator(salt=50).choice(nodes, _MOST, replace=False))
        if len(nodes) < _LEAST or len(np.unique(view.y[nodes])) < 2:
            return
        model = LogisticRegression(C=_STRENGTH, max_iter=200, tol=1e-3)
        self._model = model.fit(self._inputs([(int(node), None) for node in nodes]), view.y[nodes])

    def of(self, ends: tuple[int, ...]) -> tuple[list[tuple[int, float]], list[tuple[int, float]]] | None:
        """Return class and probability at both ends with the edge, and without it; None without a model."""
        if self._model is None:
            return None
        one, other = ends
        asked = [(one, None), (other, None), (one, other), (other, one)]
        shares: Shares = self._model.predict_proba(self._inputs(asked))
        found = [(int(self._model.classes_[row.argmax()]), float(row.max())) for row in shares]
        return found[:2], found[2:]

    def _inputs(self, asked: list[tuple[int, int | None]]) -> NDArray[np.float32]:
        """Compute the inputs of nodes, each without one of its neighbours if it is named."""
        view = self._view
        near = [neighbors_of(view, node) for node, _ in asked]
        near = [
            nodes[nodes != (-1 if gone is None else gone)]
            for nodes, (_, gone) in zip(near, asked, strict=True)
        ]
        row = np.repeat(np.arange(len(asked)), [len(nodes) for nodes in near])
        column = np.concatenate([np.zeros(0, dtype=np.int64), *near])
        graph = sparse.csr_array(
            (np.ones(len(row), dtype=np.float32), (row, column)), shape=(len(asked), view.num_nodes)
        )
        known = view.y[column] >= 0
        votes = np.zeros((len(asked), int(view.y.max()) + 1), dtype=np.float32)
        np.add.at(votes, (row[known], view.y[column[known]]), 1)
        votes /= np.maximum(votes.sum(1, keepdims=True), 1)
        own = view.rows[np.array([node for node, _ in asked])]
        return np.concatenate([unit_rows(own), unit_rows(graph @ view.rows), votes], axis=1)
