"""The products in plain torch, on any device: CSR times dense, and sampled dense times dense."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

from gadc.kernels.pattern import SparsePattern

with warnings.catch_warnings():
    # torch announces once per process that CSR tensors are in beta; take that announcement here.
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor([0, 0], torch.empty(0, dtype=torch.int64), torch.empty(0), (1, 1))


def _csr(pattern: SparsePattern, values: Tensor) -> Tensor:
    size = (pattern.num_rows, pattern.num_cols)
    return torch.sparse_csr_tensor(pattern.row_ptr, pattern.cols, values, size, check_invariants=False)


def spmm(pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
    """Sparse (pattern, values) times dense."""
    return _csr(pattern, values.contiguous()) @ dense.contiguous()


def sddmm(pattern: SparsePattern, left: Tensor, right: Tensor) -> Tensor:
    """Inner products of rows of `left` and `right` at the entries of the pattern."""
    zeros = torch.zeros(pattern.nnz, dtype=left.dtype, device=left.device)
    sampled: Tensor = torch.sparse.sampled_addmm(
        _csr(pattern, zeros), left.contiguous(), right.T.contiguous(), beta=0.0
    )
    return sampled.values()
