"""The products in plain torch, on any device: CSR times dense, and sampled dense times dense.

They are the reference that the other back ends are tested against.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

import gadc._base.csr  # noqa: F401  drops torch's warning that CSR tensors are in beta
from gadc.operators._pattern import SparsePattern, index_type
from gadc.operators._step import Step

_FAST = 8  # columns from which torch samples products of float32 by vectors; below it is ten times slower


def _csr(pattern: SparsePattern, values: Tensor) -> Tensor:
    size = (pattern.num_rows, pattern.num_cols)
    row_ptr, cols = pattern.row_ptr, pattern.cols
    if row_ptr.dtype != cols.dtype:  # torch takes one type for both; the pointers are the smaller array
        common = torch.promote_types(index_type(pattern.nnz), cols.dtype)
        row_ptr, cols = row_ptr.to(common), cols.to(common)
    return torch.sparse_csr_tensor(row_ptr, cols, values, size, check_invariants=False)


def spmm(pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
    """Multiply sparse (pattern, values) with dense."""
    return _csr(pattern, values.contiguous()) @ dense.contiguous()


def finish(product: Tensor, step: Step) -> Tensor:
    """Take a step whose product has been computed already; the product is overwritten."""
    if step.scale != 1:
        product.mul_(step.scale)
    for weight, summand in step.plus:
        product.add_(summand, alpha=weight)
    if step.total is not None:
        weight, total = step.total
        total.add_(product, alpha=weight)
    return product if step.out is None else step.out.copy_(product)


def sddmm(pattern: SparsePattern, left: Tensor, right: Tensor) -> Tensor:
    """Compute the inner products of rows of `left` and `right` at the entries of the pattern."""
    if 1 < left.shape[1] < _FAST:
        padding = (0, _FAST - left.shape[1])
        left, right = pad(left, padding), pad(right, padding)
    zeros = torch.zeros(pattern.nnz, dtype=left.dtype, device=left.device)
    sampled: Tensor = torch.sparse.sampled_addmm(
        _csr(pattern, zeros), left.contiguous(), right.T.contiguous(), beta=0.0
    )
    return sampled.values()


def row_sums(pattern: SparsePattern, values: Tensor) -> Tensor:
    """Sum each row."""
    return values.new_zeros(pattern.num_rows).index_add(0, pattern.rows, values)


def rescale(pattern: SparsePattern, values: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """Compute left_i · values_ij · right_j for all entries."""
    return values * left.index_select(0, pattern.rows) * right.index_select(0, pattern.cols)
