"""Horner's rule: Σ_k θ_k T^k X with K products.

F_K = θ_K X,    F_k = T F_{k+1} + θ_k X,    Σ_k θ_k T^k X = F_0
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from gadc.operators import LinearOperator, Step


def horner(operator: LinearOperator, x: Tensor, theta: Sequence[float]) -> Tensor:
    """Sum the series by one product per step; two buffers take turns.

    Args:
        operator: T.
        x: X, shape (n, d), contiguous.
        theta: Coefficients θ_0..θ_K.

    Returns:
        The sum, shape (n, d), differentiable in `x` and in the parts of the operator.
    """
    if len(theta) == 1:
        return theta[0] * x
    scale, out, spare = theta[-1], x, None
    for weight in reversed(theta[:-1]):
        product = operator.apply(out, Step(scale=scale, plus=[(weight, x)], out=spare))
        spare = None if out is x else out
        scale, out = 1.0, product
    return out


def learned_horner(operator: LinearOperator, x: Tensor, theta: Tensor) -> Tensor:
    """Sum the series with coefficients that are differentiated, too; shapes are as in `horner`."""
    out = theta[-1] * x
    for weight in theta[:-1].flip(0):
        out = operator @ out + weight * x
    return out
