"""What features and graph say about the class of a node, without its own label.

inputs   features, features averaged over one and two steps, and the classes of neighbours and of their
         neighbours; paths that return to the node are left out, so no node sees its own label
model    ridge regression (for edges: fast, many graphs) or logistic regression (for labels: probabilities),
         each node judged by models that were not trained on it
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from gadc.lab._pairs_of_nodes import Likeness
from gadc.lab._prepared import unit_rows
from gadc.lab._view import GraphView, Integers

_FOLDS = 5
_PENALTY = 0.1  # of ridge, relative to the mean square of a row
_SHARPNESS = 4.0  # of the softmax that turns ridge scores, about 0 to 1, into shares
_STRENGTH = 0.3  # inverse penalty of logistic regression
_MOST = 50_000  # labelled nodes that a logistic regression learns from

Array = NDArray[np.float64]


def inputs_of(view: GraphView, graph: sparse.csr_array, y: Integers) -> NDArray[np.float32]:
    """Compute the inputs of all nodes, shape (n, any); `y` is -1 where no label is known."""
    classes = int(y.max(initial=-1)) + 1
    degree = np.maximum(np.diff(graph.indptr), 1).astype(np.float32)
    parts = []
    if view.rows.shape[1]:
        likeness = Likeness(view.rows, graph)
        steps = [view.rows, likeness.smoothed(1), likeness.smoothed(2)]
        parts += [unit_rows(step) for step in steps]
    votes = np.zeros((view.num_nodes, classes), dtype=np.float32)
    known = np.flatnonzero(y >= 0)
    votes[known, y[known]] = 1
    first = graph @ votes
    returning = graph @ (1 / degree)
    second = graph @ (first / degree[:, None]) - returning[:, None] * votes
    parts += [_shares(first), _shares(np.maximum(second, 0))]
    return np.concatenate(parts, axis=1).astype(np.float32)


def beliefs(view: GraphView, graph: sparse.csr_array) -> NDArray[np.float32]:
    """Estimate the classes of all nodes by ridge regression, shape (n, classes); rows have length <= 1."""
    known, inputs = view.labelled, inputs_of(view, graph, view.y)
    classes = int(view.y.max()) + 1
    targets = np.eye(classes)[view.y[known]]
    rng = view.generator(salt=1)
    fold = rng.integers(min(_FOLDS, len(known)), size=view.num_nodes)
    z = np.concatenate([inputs, np.ones((view.num_nodes, 1), dtype=np.float32)], axis=1)
    penalty = _PENALTY * float(np.square(inputs[known]).sum(1).mean()) + 1e-6
    total, right = _moments(z[known], targets)
    scores = np.zeros((view.num_nodes, classes))
    for k in np.unique(fold):
        held = known[fold[known] == k]
        gram, product = _moments(z[held], np.eye(classes)[view.y[held]])
        system = total - gram + penalty * np.eye(z.shape[1])
        scores[fold == k] = z[fold == k] @ np.linalg.solve(system, right - product)
    return _softmax(_SHARPNESS * scores).astype(np.float32)


def probabilities(view: GraphView, graph: sparse.csr_array, y: Integers, seed: int) -> Array:
    """Estimate the classes of the labelled nodes by logistic regression, out of fold.

    The result has one row per labelled node and one column per class, in the order of `np.unique`.
    """
    known = np.flatnonzero(y >= 0)
    inputs, labels = inputs_of(view, graph, y)[known], y[known]
    _, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    found = np.tile(sizes / len(labels), (len(labels), 1))
    if sizes.min() < 2:  # a class of one node cannot be in every fold
        folds = np.random.default_rng(seed).integers(min(_FOLDS, len(labels)), size=len(labels))
        splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in np.unique(folds)]
    else:
        count = int(min(_FOLDS, sizes.min()))
        splits = list(StratifiedKFold(count, shuffle=True, random_state=seed).split(inputs, codes))
    for train, test in splits:
        if len(train) > _MOST:
            train = np.random.default_rng(seed).choice(train, _MOST, replace=False)
        seen = np.unique(codes[train])
        if len(seen) < 2 or not inputs.shape[1]:
            continue
        model = LogisticRegression(C=_STRENGTH, max_iter=200, tol=1e-3).fit(inputs[train], codes[train])
        found[test] = 1e-6
        found[np.ix_(test, seen)] = model.predict_proba(inputs[test])
    total: Array = found / found.sum(1, keepdims=True)
    return total


def _moments(z: NDArray[np.float32], targets: Array) -> tuple[Array, Array]:
    wide = z.astype(np.float64)
    return wide.T @ wide, wide.T @ targets


def _shares(counts: NDArray[np.float32]) -> NDArray[np.float32]:
    total = counts.sum(1, keepdims=True)
    return (counts / np.where(total > 0, total, 1.0)).astype(np.float32)


def _softmax(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(1, keepdims=True))
    found: Array = raised / raised.sum(1, keepdims=True)
    return found
