"""Sparse features: SciPy's matrices in CSR form as torch tensors, and back. Nothing becomes dense here."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

with warnings.catch_warnings():
    # torch warns once per process that CSR tensors are in beta; the warning is dropped here.
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor([0, 0], torch.empty(0, dtype=torch.int64), torch.empty(0), (1, 1))

_SHARE = 1 / 9  # a stored entry takes 12 bytes and a dense one 4: below this, a third of the memory at most


def is_worth_csr(matrix: Any) -> bool:
    """Return whether a SciPy sparse matrix takes at most a third of the memory of the dense matrix."""
    rows, columns = matrix.shape
    return bool(matrix.nnz <= _SHARE * rows * columns)


def to_csr_tensor(matrix: Any) -> Tensor:
    """Convert a SciPy sparse matrix to a CSR tensor of float32 with sorted columns and no repeated entries.

    The input is not changed; memory is shared where the types agree.
    """
    matrix = sparse.csr_array(matrix)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    with np.errstate(over="ignore"):  # the caller refuses what is not finite
        values = _tensor(matrix.data, np.float32)
    row_ptr, columns = _tensor(matrix.indptr, np.int64), _tensor(matrix.indices, np.int64)
    return torch.sparse_csr_tensor(row_ptr, columns, values, matrix.shape)


def _tensor(array: Any, dtype: type) -> Tensor:
    return torch.from_numpy(np.require(array, dtype=dtype, requirements=["C_CONTIGUOUS", "WRITEABLE"]))


def from_csr_tensor(x: Tensor) -> sparse.csr_array:
    """Convert a sparse tensor to a SciPy matrix, which shares the memory of a CSR tensor."""
    x = x.detach().cpu()
    x = x if x.layout == torch.sparse_csr else x.to_sparse_csr()
    parts = x.values().numpy(), x.col_indices().numpy(), x.crow_indices().numpy()
    return sparse.csr_array(parts, shape=(x.shape[0], x.shape[1]))
