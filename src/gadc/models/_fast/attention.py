"""The two parts of attention over a graph, for several heads at once.

    α_ij = v_ij exp(s_ij) / Σ_l v_il exp(s_il),   s_ij = LeakyReLU(receive_i + send_j)      on A's entries
    out_i = Σ_j w_ij H_j                                                                   in each head

In torch both are differentiable to any order in every argument. Large ones on the CPU are computed by loops
that Numba compiles and are differentiable once, unless a gradient in the entries v is needed.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import leaky_relu

from gadc.operators import SparsePattern, spmm, uses_numba

LEAST = 1e-16  # lower bound of a sum before a division by it
_WORK = 8  # number of multiplications that take as long as an exponential


def edge_softmax(
    pattern: SparsePattern, values: Tensor, receive: Tensor, send: Tensor, slope: float
) -> Tensor:
    """Compute the attention α of each node to its neighbours, shape (entries, heads).

    Args:
        pattern: Positions of the entries of A.
        values: Entries v of A, shape (entries,).
        receive: Part of the score that comes from the receiving node, shape (nodes, heads).
        send: Part of the score that comes from the sending node, shape (nodes, heads).
        slope: Slope of the LeakyReLU below 0.
    """
    recorded = torch.is_grad_enabled() and values.requires_grad
    if not recorded and uses_numba(_WORK * pattern.nnz * receive.shape[1], values, receive, send):
        out: Tensor = _Softmax.apply(pattern, slope, values, receive, send)  # type: ignore[no-untyped-call]
        return out
    rows, cols = pattern.rows.long(), pattern.cols.long()  # torch is slow at adding by int32
    scores = leaky_relu(receive.index_select(0, rows) + send.index_select(0, cols), slope)
    # Subtracting the largest score of a row cancels in the quotient and keeps exp from overflowing.
    peak = torch.segment_reduce(scores.detach(), "max", offsets=pattern.row_ptr.long())
    weights = values.unsqueeze(1) * (scores - peak.index_select(0, rows)).exp()
    total = torch.zeros_like(receive).index_add(0, rows, weights)
    return weights / total.clamp(min=LEAST).index_select(0, rows)


def weighted_sums(pattern: SparsePattern, weights: Tensor, mapped: Tensor) -> Tensor:
    """Sum over neighbours with separate weights in each head, shape (nodes, heads, units).

    Args:
        pattern: Positions of the entries of A.
        weights: Weight w of each entry in each head, shape (entries, heads).
        mapped: The summands H, shape (nodes, heads, units).
    """
    if uses_numba(pattern.nnz * mapped[0].numel() if len(mapped) else 0, weights, mapped):
        out: Tensor = _WeightedSums.apply(pattern, weights, mapped)  # type: ignore[no-untyped-call]
        return out
    heads = range(mapped.shape[1])
    return torch.stack([spmm(pattern, weights[:, h], mapped[:, h].contiguous()) for h in heads], 1)


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, pattern: SparsePattern, slope: float, values: Tensor, receive: Tensor, send: Tensor
    ) -> Tensor:
        from gadc.models._fast import loops_attention as loops
        from gadc.operators._numba.csr import flat, number_type
        from gadc.operators._numba.threads import over_rows

        shares = values.new_empty((pattern.nnz, receive.shape[1]))
        number = number_type(values)
        operands = flat(values), flat(receive), flat(send), receive.shape[1], number(slope), number(LEAST)
        work = partial(loops.softmax, flat(pattern.row_ptr), flat(pattern.cols), *operands, flat(shares))
        over_rows(pattern, _WORK * receive.shape[1], work)
        ctx.pattern, ctx.slope = pattern, slope
        ctx.save_for_backward(receive, send, shares)
        return shares

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, None, Tensor, Tensor]:
        from gadc.models._fast import loops_attention as loops
        from gadc.operators._numba.csr import flat, number_type
        from gadc.operators._numba.threads import over_rows

        receive, send, shares = ctx.saved_tensors
        pattern, heads = ctx.pattern, receive.shape[1]
        entries, of_receive, of_send = (
            torch.empty_like(shares),
            torch.zeros_like(receive),
            torch.zeros_like(send),
        )
        operands = (
            flat(receive),
            flat(send),
            heads,
            number_type(shares)(ctx.slope),
            flat(shares),
            flat(gradient),
        )
        matrix = flat(pattern.row_ptr), flat(pattern.cols)
        results = flat(entries), flat(of_receive)
        over_rows(pattern, heads, partial(loops.softmax_gradient, *matrix, *operands, *results))
        turned, order = pattern.transposed
        columns = flat(turned.row_ptr), flat(order), flat(entries), heads, flat(of_send)
        over_rows(turned, heads, partial(loops.sums, *columns))
        return None, None, None, of_receive, of_send


class _WeightedSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pattern: SparsePattern, weights: Tensor, mapped: Tensor) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(weights, mapped)
        return _weighted(pattern, torch.arange(pattern.nnz), weights, mapped)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        weights, mapped = ctx.saved_tensors
        of_weights = _inner(ctx.pattern, gradient, mapped) if ctx.needs_input_grad[1] else None
        turned, order = ctx.pattern.transposed
        of_mapped = _weighted(turned, order, weights, gradient) if ctx.needs_input_grad[2] else None
        return None, of_weights, of_mapped


def _weighted(pattern: SparsePattern, order: Tensor, weights: Tensor, mapped: Tensor) -> Tensor:
    from gadc.models._fast import loops_attention as loops
    from gadc.operators._numba.csr import flat
    from gadc.operators._numba.threads import over_rows

    _, heads, units = mapped.shape
    out = mapped.new_zeros(pattern.num_rows, heads, units)
    matrix = flat(pattern.row_ptr), flat(pattern.cols), flat(order), flat(weights)
    over_rows(pattern, heads * units, partial(loops.weighted, *matrix, flat(mapped), heads, units, flat(out)))
    return out


def _inner(pattern: SparsePattern, left: Tensor, right: Tensor) -> Tensor:
    from gadc.models._fast import loops_attention as loops
    from gadc.operators._numba.csr import flat
    from gadc.operators._numba.threads import over_rows

    _, heads, units = right.shape
    out = right.new_empty(pattern.nnz, heads)
    factors = flat(left), flat(right), heads, units, flat(out)
    over_rows(
        pattern, heads * units, partial(loops.inner, flat(pattern.row_ptr), flat(pattern.cols), *factors)
    )
    return out
