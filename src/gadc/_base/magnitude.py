"""Norms and scales of numbers that may be huge or tiny.

Squares of float32 numbers fit into float32 only between about 1e-19 and 1e19, and fourth powers between 1e-10
and 1e10. Dividing by a power of two brings numbers into that range and rounds nothing, so values of usual
size give the same results to the last bit.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

_USUAL = 2.0**30  # entries between 1/_USUAL and _USUAL need no scaling


def power_of_two(values: Tensor) -> float:
    """Return the power of two that brings the largest entry to a size in [1, 2); 1 if all entries are 0."""
    if not values.numel():
        return 1.0
    low, high = torch.aminmax(values.detach())
    largest = max(-float(low), float(high))
    return 2.0 ** (math.frexp(largest)[1] - 1) if 0 < largest < math.inf else 1.0


def rescaled(values: Tensor) -> tuple[Tensor, float]:
    """Divide by a power of two if the largest entry is huge or tiny.

    Returns:
        The scaled values, which are the very same tensor if their size is usual, and the divisor.
    """
    unit = power_of_two(values)
    if 1 / _USUAL <= unit <= _USUAL:
        return values, 1.0
    return values / unit, unit


def frobenius_norm(values: Tensor) -> Tensor:
    """Compute ‖values‖_F, also where the squares of the entries do not fit into their type."""
    unit = power_of_two(values)
    norm: Tensor = unit * torch.linalg.vector_norm(values / unit)
    return norm


def norm_of(values: Tensor) -> float:
    """Compute ‖values‖_F as a number; like `frobenius_norm`, but in one pass for values of usual size."""
    norm = float(torch.linalg.vector_norm(values.detach()))
    if 1e-15 < norm < 1e15:
        return norm
    unit = power_of_two(values)
    return unit * float(torch.linalg.vector_norm(values.detach() / unit))


def usual_rows(x: Tensor, squares: Tensor) -> Tensor:
    """Divide the rows whose squared norm does not fit into the type of `x` by their largest entry.

    Args:
        x: Features, shape (n, d).
        squares: Squared norms of the rows, shape (n,).

    Returns:
        Rows of the same directions, shape (n, d), differentiable in `x`; `x` itself if all rows are usual.
    """
    squares = squares.detach()
    odd = (squares < 1e-24) | ~(squares < 1e24)  # `not <` also finds the rows that became NaN
    if not odd.any() or not x.detach()[odd].any():
        return x
    largest = x.detach().abs().amax(1, keepdim=True)
    return x / torch.where(odd.unsqueeze(1) & (largest > 0), largest, 1.0)
