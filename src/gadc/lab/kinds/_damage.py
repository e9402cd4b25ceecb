"""Rows of features damaged on purpose, a third of them in each way.

exchanged  the row of another node
mixed      part of the cells from other nodes; of words, some removed and as many others added
noise      tables: noise on a few columns; words: as many random words again
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_WAYS = 3


def damaged(features: Any, hosts: NDArray[np.int64], rng: np.random.Generator) -> Any:
    """Return features with damaged rows at `hosts`.

    Args:
        features: Shape (n, d), dense or sparse.
        hosts: Rows to damage.
        rng: Random numbers.
    """
    way = rng.permutation(len(hosts)) % _WAYS
    other = rng.integers(features.shape[0], size=len(hosts))
    if sparse.issparse(features):
        return _sparse(features, hosts, other, way, rng)
    changed = features.copy()
    changed[hosts[way == 0]] = features[other[way == 0]]
    mixed = hosts[way == 1]
    cells = rng.random((len(mixed), features.shape[1])) < rng.uniform(0.2, 0.6, (len(mixed), 1))
    donors = features[
        rng.integers(features.shape[0], size=(len(mixed), features.shape[1])), np.arange(features.shape[1])
    ]
    changed[mixed] = np.where(cells, donors, features[mixed])
    noisy = hosts[way == 2]
    deviation = features.std(0)
    size = np.exp(rng.uniform(np.log(1.0), np.log(8.0), (len(noisy), 1)))
    few = rng.random((len(noisy), features.shape[1])) < rng.choice(
        [1.5 / features.shape[1], 0.3, 1.0], (len(noisy), 1)
    )
    noise = size * deviation * rng.standard_normal((len(noisy), features.shape[1])) * few
    changed[noisy] = (features[noisy] + noise).astype(features.dtype)
    return changed


def _sparse(
    features: Any,
    hosts: NDArray[np.int64],
    other: NDArray[np.int64],
    way: NDArray[np.int64],
    rng: np.random.Generator,
) -> sparse.csr_array:
    """Damage rows of words."""
    rows = sparse.csr_array(features[other])  # exchanged
    own = sparse.csr_array(features[hosts])
    share = np.where(way == 1, rng.uniform(0.2, 0.6, len(hosts)), 0.0)
    parts = []
    for place in range(len(hosts)):
        if way[place] == 0:
            parts.append(rows[[place]])
            continue
        row = own[[place]].tocoo()
        kept = rng.random(row.nnz) >= share[place]
        added = rng.integers(
            features.shape[1], size=max(1, row.nnz - int(kept.sum()) if way[place] == 1 else row.nnz)
        )
        columns = np.concatenate([row.col[kept], added])
        value = float(row.data.mean()) if row.nnz else 1.0
        values = np.concatenate([row.data[kept], np.full(len(added), value, dtype=features.dtype)])
        made = sparse.csr_array(
            (values, (np.zeros(len(columns), dtype=int), columns)), shape=(1, features.shape[1])
        )
        parts.append(made)
    new = sparse.csr_array(sparse.vstack(parts)) if parts else own
    kept_rows = np.ones(features.shape[0], dtype=bool)
    kept_rows[hosts] = False
    stacked = sparse.csr_array(sparse.vstack([features[np.flatnonzero(kept_rows)], new]))
    position = np.empty(features.shape[0], dtype=np.int64)
    position[np.concatenate([np.flatnonzero(kept_rows), hosts])] = np.arange(features.shape[0])
    return sparse.csr_array(stacked[position])
