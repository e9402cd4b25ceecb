"""Features made comparable: columns of tables in one unit, words weighted by how rare they are.

    tables   x -> (x - mean) / deviation, cut at ±5, so that one broken cell does not decide
    words    (mostly zeros, none negative) x -> x log((n + 1) / (df + 1)), rows of length 1, centred

More than 256 columns are reduced to the 256 leading singular vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from torch_geometric.data import Data

from gadc._base.csr import from_csr_tensor

_RANK = 256
_CUT = 5.0
_SPARSE = 0.8  # share of zeros from which features are words

Rows = NDArray[np.float32]


def raw_features(data: Data) -> Rows | sparse.csr_array | None:
    """Return the features of a graph, sparse if at least four in five entries are zero."""
    x = data.get("x")
    if x is None or x.shape[1] == 0:
        return None
    if x.layout != torch.strided:
        return from_csr_tensor(x).astype(np.float32)
    dense: Rows = x.detach().cpu().numpy().astype(np.float32, copy=False)
    if dense.shape[1] > _RANK and np.count_nonzero(dense) <= (1 - _SPARSE) * dense.size:
        return sparse.csr_array(dense)
    return dense


def is_words(features: Rows | sparse.csr_array) -> bool:
    """Return whether features are like counts of words: none negative, mostly zero."""
    values = features.data if sparse.issparse(features) else features
    if not values.size or values.min() < 0:
        return False
    return bool(np.count_nonzero(values) <= (1 - _SPARSE) * features.shape[0] * features.shape[1])


def prepared_rows(features: Rows | sparse.csr_array, seed: int) -> Rows:
    """Make features comparable, shape (n, at most 256)."""
    made = weighted_words(features) if is_words(features) else standardized(to_dense(features))
    if made.shape[1] > _RANK:
        rank = min(_RANK, min(made.shape) - 1)
        made = TruncatedSVD(rank, random_state=seed, n_iter=3).fit_transform(made).astype(np.float32)
    rows: Rows = np.array(made.toarray() if sparse.issparse(made) else made, dtype=np.float32)
    rows -= rows.mean(0)
    return rows


def standardized(x: Rows) -> Rows:
    """Bring columns to mean 0 and deviation 1, cut at ±5; a constant column becomes 0."""
    deviation = x.std(0, dtype=np.float64)
    safe = np.where(deviation > 0, deviation, 1.0)
    scaled: Rows = np.clip((x - x.mean(0, dtype=np.float64)) / safe, -_CUT, _CUT).astype(np.float32)
    return scaled


def unit_rows(rows: NDArray[Any]) -> NDArray[Any]:
    """Divide each row by its length; a zero row stays zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: NDArray[Any] = rows / np.where(lengths > 0, lengths, 1.0)
    return scaled


def weighted_words(features: Rows | sparse.csr_array) -> sparse.csr_array:
    """Weight words by how rare they are, in rows of length 1."""
    x = sparse.csr_array(features).astype(np.float32)
    df = np.bincount(x.indices[x.data != 0], minlength=x.shape[1])
    weighted = x.multiply(np.log((x.shape[0] + 1) / (df + 1)).astype(np.float32)[None, :]).tocsr()
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(1)).ravel())
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return sparse.csr_array(sparse.diags_array(scale.astype(np.float32)) @ weighted)


def to_dense(features: Any) -> NDArray[Any]:
    """Return a dense array, of a sparse matrix or of an array."""
    dense: NDArray[Any] = features.toarray() if hasattr(features, "toarray") else np.asarray(features)
    return dense
