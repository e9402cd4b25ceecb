"""How far each row of features is from what its neighbours and its other columns let expect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gadc.lab._prepared import prepared_rows, to_dense, unit_rows, weighted_words
from gadc.lab._view import GraphView

_CUT = 5.0
_SHRINKAGE = 0.05  # of the covariance of residuals, towards its diagonal
_PART = 2**16  # rows at a time
_SAMPLE = 200_000  # rows that the covariance is measured on

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class RowEvidence:
    """Evidence against the rows of all nodes.

    Attributes:
        values: Shape (n, f), high is bad.
        column: The column at fault most, shape (n,).
        z_score: Its deviation in units of its usual size, shape (n,).
    """

    values: Array
    column: NDArray[np.int64]
    z_score: Array


def table_evidence(view: GraphView, features: Any) -> RowEvidence:
    """Compute the evidence against rows of a table."""
    x = to_dense(features)
    deviation = x.std(0, dtype=np.float64)
    z = ((x - x.mean(0, dtype=np.float64)) / np.where(deviation > 0, deviation, 1.0)).astype(np.float32)
    around = _mean_of_neighbors(view.adjacency, np.clip(z, -_CUT, _CUT))
    slope = _slopes(np.clip(z, -_CUT, _CUT), around)
    residual = z - slope * around
    usual = np.maximum(1.4826 * np.median(np.abs(residual), axis=0), 0.3 * residual.std(0)) + 1e-6
    residual /= usual.astype(np.float32)
    precision = _precision(np.clip(residual, -_CUT, _CUT), view.generator(salt=33))
    root = np.sqrt(np.diagonal(precision))
    n = len(z)
    values, column, worst = np.zeros((n, 5)), np.zeros(n, dtype=np.int64), np.zeros(n)
    for start in range(0, n, _PART):
        part = slice(start, start + _PART)
        weighted = residual[part] @ precision
        single = weighted / root
        column[part] = np.abs(single).argmax(1)
        worst[part] = np.take_along_axis(single, column[part][:, None], 1).ravel()
        values[part, 0] = np.abs(worst[part])
        values[part, 1] = np.einsum("ij,ij->i", weighted, residual[part]) / z.shape[1]
        values[part, 2] = np.square(residual[part]).mean(1)
    values[:, 3] = 1 - np.einsum("ij,ij->i", unit_rows(z), unit_rows(around))
    values[:, 4] = np.abs(z).max(1)
    return RowEvidence(values=values, column=column, z_score=worst)


def word_evidence(view: GraphView, features: Any) -> RowEvidence:
    """Compute the evidence against rows of words."""
    q = weighted_words(features)
    around = sparse.csr_array(view.adjacency @ q)
    own = sparse.csr_array(q.multiply(q))
    supported = sparse.csr_array(own.multiply(around.astype(bool)))
    loose = sparse.csr_array(own - supported)
    loose.eliminate_zeros()
    lengths = np.sqrt(np.asarray(around.multiply(around).sum(1)).ravel())
    cosine = np.asarray(q.multiply(around).sum(1)).ravel() / np.where(lengths > 0, lengths, 1.0)
    rows = prepared_rows(features, view.seed)
    outside = 1 - np.einsum("ij,ij->i", rows, rows)
    topics = np.einsum("ij,ij->i", unit_rows(rows), unit_rows(view.adjacency @ rows))
    count = np.log1p(np.diff(q.indptr))
    values = np.stack(
        [np.asarray(loose.sum(1)).ravel(), outside, 1 - cosine, 1 - topics, count - np.median(count)],
        axis=1,
    )
    alone = view.degree == 0
    values[np.ix_(alone, [0, 2, 3])] = (
        np.median(values[~alone][:, [0, 2, 3]], axis=0) if (~alone).any() else 0
    )
    column, size = _largest_entries(loose if not alone.any() else own)
    return RowEvidence(values=values, column=column, z_score=np.sqrt(size))


def _mean_of_neighbors(graph: sparse.csr_array, z: NDArray[np.float32]) -> NDArray[np.float32]:
    degree = np.maximum(np.diff(graph.indptr), 1).astype(np.float32)
    found: NDArray[np.float32] = ((graph @ z) / degree[:, None]).astype(np.float32, copy=False)
    return found


def _slopes(z: NDArray[np.float32], around: NDArray[np.float32]) -> NDArray[np.float32]:
    """Regress each column on the mean of its neighbours; 0 where the graph says nothing."""
    variance = np.maximum(np.square(around).mean(0), 1e-6)
    found: NDArray[np.float32] = (z * around).mean(0) / variance
    return np.clip(found, -1.5, 1.5)


def _precision(residual: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """Invert the covariance of residuals, shrunk towards its diagonal."""
    if len(residual) > _SAMPLE:
        residual = residual[rng.choice(len(residual), _SAMPLE, replace=False)]
    wide = residual.astype(np.float64)
    covariance = wide.T @ wide / len(wide)
    diagonal = np.diag(np.maximum(np.diagonal(covariance), 1e-3))
    found = np.linalg.inv(
        (1 - _SHRINKAGE) * covariance + _SHRINKAGE * diagonal + 1e-6 * np.eye(len(diagonal))
    )
    return found.astype(np.float32)


def _largest_entries(matrix: sparse.csr_array) -> tuple[NDArray[np.int64], Array]:
    """Return column and value of the largest entry of each row; 0 for an empty row."""
    peak = matrix.max(axis=1).toarray().ravel() if matrix.shape[1] else np.zeros(matrix.shape[0])
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    column = np.zeros(matrix.shape[0], dtype=np.int64)
    top = matrix.data >= peak[row]
    column[row[top]] = matrix.indices[top]
    return column, peak.astype(np.float64)
