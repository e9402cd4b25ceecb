"""Rows of a linear propagation S, formed once in place of the sparse products of every epoch.

A training step needs the rows of Z = S f(X) that have labels, Z_L = S_L f(X). With few labels S_L is small
and takes the place of the K sparse products forward and backward. Nodes that no labelled node depends on are
left out of f. Both are exact up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from gadc.operators import LinearOperator

_DENSE_SPEED = 8  # how much faster a dense product goes through its entries than a sparse one


def rows_are_cheaper(targets: Tensor, graph: LinearOperator, num_steps: int) -> bool:
    """Whether a product with the rows of S at a mask of nodes costs less than `num_steps` products of T."""
    return int(targets.sum()) * len(targets) <= _DENSE_SPEED * num_steps * graph.pattern.nnz


@torch.enable_grad()
def propagation_rows(propagate: Callable[[Tensor], Tensor], targets: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the rows of a linear map S at a mask of nodes, shape (targets, n).

    Differentiating S f gives Sᵀ times unit vectors, so that S is needed as a function only.

    Args:
        propagate: The function f -> S f.
        targets: Mask of the nodes, shape (n,).
        dtype: Type of the entries.
    """
    nodes = torch.nonzero(targets).squeeze(1)
    units = torch.zeros(len(targets), len(nodes), dtype=dtype, device=targets.device)
    units[nodes, torch.arange(len(nodes), device=targets.device)] = 1
    at = torch.zeros_like(units, requires_grad=True)
    [columns] = torch.autograd.grad(propagate(at), at, units)
    return columns.T.contiguous()
