"""The two sparse products that everything is built on, differentiable to any order.

    spmm   Y_i = Σ_j A_ij H_j                  sparse times dense
    sddmm  s_ij = ⟨U_i, V_j⟩ on A's entries    dense times dense, sampled at the edges

Each is the other's adjoint: the gradient of `spmm` in the values of A is an `sddmm`, and the gradients of
`sddmm` in its factors are `spmm`s. Written that way, no dense n × n matrix appears in any derivative.

Each product goes to the back end that suits it: dense blocks for a pattern that is hardly sparse, otherwise
Numba or torch (`gadc.operators._backend`).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gadc._base.memo import remembered
from gadc.operators._backend import uses_numba
from gadc.operators._pattern import SparsePattern
from gadc.operators._step import Step
from gadc.operators._torch import csr as torch_csr
from gadc.operators._torch import dense_blocks


class _SpMM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pattern: SparsePattern, transposed: bool, values: Tensor, dense: Tensor) -> Tensor:
        ctx.pattern, ctx.transposed = pattern, transposed
        ctx.save_for_backward(values, dense)
        return _product_transposed(pattern, values, dense) if transposed else _product(pattern, values, dense)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None, Tensor | None, Tensor | None]:
        values, dense = ctx.saved_tensors
        grad_values = grad_dense = None
        if ctx.needs_input_grad[2]:
            grad_values = sddmm(ctx.pattern, *((dense, grad) if ctx.transposed else (grad, dense)))
        if ctx.needs_input_grad[3]:
            grad_dense = (spmm if ctx.transposed else spmm_transposed)(ctx.pattern, values, grad)
        return None, None, grad_values, grad_dense


class _SDDMM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pattern: SparsePattern, left: Tensor, right: Tensor) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(left, right)
        return _sampled(pattern, left, right)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        left, right = ctx.saved_tensors
        grad_left = spmm(ctx.pattern, grad, right) if ctx.needs_input_grad[1] else None
        grad_right = spmm_transposed(ctx.pattern, grad, left) if ctx.needs_input_grad[2] else None
        return None, grad_left, grad_right


def spmm(pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
    """Multiply a sparse matrix with a dense one.

    Args:
        pattern: Positions of the entries of A.
        values: The entries, shape (nnz,).
        dense: H, shape (columns of A, c).

    Returns:
        A H, shape (rows of A, c).
    """
    out: Tensor = _SpMM.apply(pattern, False, values, dense)  # type: ignore[no-untyped-call]
    return out


def spmm_transposed(pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
    """Multiply the transpose of a sparse matrix with a dense one; shape (columns of A, c). See `spmm`."""
    out: Tensor = _SpMM.apply(pattern, True, values, dense)  # type: ignore[no-untyped-call]
    return out


def sddmm(pattern: SparsePattern, left: Tensor, right: Tensor) -> Tensor:
    """Compute the inner product ⟨left_i, right_j⟩ for every entry (i, j) of a pattern.

    Args:
        pattern: Positions of the entries.
        left: U, shape (rows, c).
        right: V, shape (columns, c).

    Returns:
        One number per entry, shape (nnz,).
    """
    out: Tensor = _SDDMM.apply(pattern, left, right)  # type: ignore[no-untyped-call]
    return out


@torch.no_grad()
def fused_spmm(pattern: SparsePattern, values: Tensor, dense: Tensor, step: Step) -> Tensor:
    """Take one step of a recursion in one pass over the rows, without gradient.

    Args:
        pattern: Positions of the entries of A.
        values: The entries, shape (nnz,).
        dense: H, shape (columns of A, c).
        step: Operations on the product A H.
    """
    blocks = dense_blocks.pays(pattern, dense.shape[1])
    if not blocks and _spmm_in_numba(pattern, values, dense):
        from gadc.operators._numba import csr as numba_csr

        return numba_csr.spmm(pattern, values, dense, step)
    return torch_csr.finish(_product(pattern, values, dense), step)


def row_sums(pattern: SparsePattern, values: Tensor) -> Tensor:
    """Sum each row of a sparse matrix."""
    if not _differentiated(values) and uses_numba(pattern.nnz, values):
        from gadc.operators._numba import csr as numba_csr

        return numba_csr.row_sums(pattern, values)
    return torch_csr.row_sums(pattern, values)


def rescale(pattern: SparsePattern, values: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """Compute left_i · values_ij · right_j for all entries (i, j)."""
    if not _differentiated(values, left, right) and uses_numba(pattern.nnz, values, left, right):
        from gadc.operators._numba import csr as numba_csr

        return numba_csr.rescale(pattern, values, left, right)
    return torch_csr.rescale(pattern, values, left, right)


def _differentiated(*operands: Tensor) -> bool:
    return torch.is_grad_enabled() and any(one.requires_grad for one in operands)


def _spmm_in_numba(pattern: SparsePattern, values: Tensor, dense: Tensor) -> bool:
    columns = dense.shape[1]
    return uses_numba(pattern.nnz * columns, values, dense, columns=columns)


def _product(pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
    if dense_blocks.pays(pattern, dense.shape[1]):
        return dense_blocks.spmm(pattern, values, dense)
    if _spmm_in_numba(pattern, values, dense):
        from gadc.operators._numba import csr as numba_csr

        return numba_csr.spmm(pattern, values, dense)
    return torch_csr.spmm(pattern, values, dense)


def _product_transposed(pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
    if dense_blocks.pays(pattern, dense.shape[1]):
        return dense_blocks.spmm_transposed(pattern, values, dense)
    transposed, order = pattern.transposed
    # For few columns, reordering the values takes longer than the product.
    turned = remembered("turned", (values, order), lambda: values[order])
    return _product(transposed, turned, dense)


def _sampled(pattern: SparsePattern, left: Tensor, right: Tensor) -> Tensor:
    if dense_blocks.pays(pattern, left.shape[1]):
        return dense_blocks.sddmm(pattern, left, right)
    if uses_numba(pattern.nnz * left.shape[1], left, right):
        from gadc.operators._numba import csr as numba_csr

        return numba_csr.sddmm(pattern, left, right)
    return torch_csr.sddmm(pattern, left, right)
