"""The two products everything rests on, differentiable to any order.

    spmm   Y_i = Σ_j A_ij H_j                  sparse times dense
    sddmm  s_ij = ⟨U_i, V_j⟩ on A's entries    dense times dense, sampled at the edges

Each is the other's adjoint: the gradient of `spmm` in the values of A is an `sddmm`, and the gradients of
`sddmm` in its factors are `spmm`s. Written that way, no dense n × n matrix appears in any derivative.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gadc.kernels import torch_csr
from gadc.kernels.pattern import SparsePattern


class _SpMM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(values, dense)
        return torch_csr.spmm(pattern, values, dense)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        values, dense = ctx.saved_tensors
        grad_values = sddmm(ctx.pattern, grad, dense) if ctx.needs_input_grad[1] else None
        grad_dense = spmm_transposed(ctx.pattern, values, grad) if ctx.needs_input_grad[2] else None
        return None, grad_values, grad_dense


class _SDDMM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pattern: SparsePattern, left: Tensor, right: Tensor) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(left, right)
        return torch_csr.sddmm(pattern, left, right)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        left, right = ctx.saved_tensors
        grad_left = spmm(ctx.pattern, grad, right) if ctx.needs_input_grad[1] else None
        grad_right = spmm_transposed(ctx.pattern, grad, left) if ctx.needs_input_grad[2] else None
        return None, grad_left, grad_right


def spmm(pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
    """Sparse (pattern, values) times dense, shape (rows, c)."""
    out: Tensor = _SpMM.apply(pattern, values, dense)  # type: ignore[no-untyped-call]
    return out


def spmm_transposed(pattern: SparsePattern, values: Tensor, dense: Tensor) -> Tensor:
    """The transpose of sparse (pattern, values) times dense, shape (cols, c)."""
    transposed, order = pattern.transposed
    return spmm(transposed, values[order], dense)


def sddmm(pattern: SparsePattern, left: Tensor, right: Tensor) -> Tensor:
    """Inner products ⟨left_i, right_j⟩ for every entry (i, j) of the pattern."""
    out: Tensor = _SDDMM.apply(pattern, left, right)  # type: ignore[no-untyped-call]
    return out
