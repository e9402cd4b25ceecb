"""Sparse patterns that break products: empty rows, one huge row, all pairs, no entry at all."""

from functools import partial
from typing import Any

import numpy as np
import torch

from gadc.operators import SparsePattern
from gadc.operators._torch import csr as torch_csr

KINDS = ["random", "empty rows", "one huge row", "complete", "empty"]


def make_pattern(kind: str, index: torch.dtype = torch.int32) -> SparsePattern:
    """Build a pattern with 60 rows and 45 columns of one of `KINDS`, with indices of the given type."""
    rng = np.random.default_rng(0)
    n, m = 60, 45
    keys = {
        "random": rng.choice(n * m, 500, replace=False),
        "empty rows": rng.choice(5 * m, 40, replace=False) + 20 * m,
        "one huge row": np.concatenate([np.arange(m) + 7 * m, [0, n * m - 1]]),
        "complete": np.arange(n * m),
        "empty": np.empty(0, dtype=np.int64),
    }[kind]
    made = SparsePattern.from_keys(torch.from_numpy(np.sort(keys)), n, m)
    return SparsePattern(made.row_ptr.to(index), made.cols.to(index), m)


def random_pattern(rows: int, cols: int, seed: int) -> SparsePattern:
    """Build a pattern with a random number of entries."""
    rng = np.random.default_rng(seed)
    keys = rng.choice(rows * cols, size=rng.integers(0, rows * cols), replace=False)
    return SparsePattern.from_keys(torch.from_numpy(np.sort(keys)), rows, cols)


def symmetric_pattern(n: int = 50) -> SparsePattern:
    """Build a random symmetric pattern with a full diagonal."""
    u, v = np.random.default_rng(1).integers(0, n, (2, 300))
    keys = np.unique(np.concatenate([u * n + v, v * n + u, np.arange(n) * (n + 1)]))
    return SparsePattern.from_keys(torch.from_numpy(keys), n, n, symmetric=True)


def assert_products_equal_torch(
    backend: Any, kind: str, index: torch.dtype, dtype: torch.dtype, columns: int
) -> None:
    """Compare `spmm` and `sddmm` of a back end with torch's CSR product and with a dense product."""
    pattern = make_pattern(kind, index)
    values = torch.randn(pattern.nnz, dtype=dtype)
    left = torch.randn(pattern.num_rows, columns, dtype=dtype)
    right = torch.randn(pattern.num_cols, columns, dtype=dtype)
    accuracy = 1e-4 if dtype == torch.float32 else 1e-10
    close = partial(torch.testing.assert_close, rtol=accuracy, atol=accuracy)
    close(backend.spmm(pattern, values, right), torch_csr.spmm(pattern, values, right))
    close(backend.sddmm(pattern, left, right), sampled(pattern, left, right))


def sampled(pattern: SparsePattern, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return the entries of left rightᵀ at the entries of a pattern, from the dense product."""
    return (left @ right.T)[pattern.rows.long(), pattern.cols.long()]
