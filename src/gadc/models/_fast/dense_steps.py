"""Diffusion of many columns over a graph that is nearly dense, as it is while an attack relaxes all pairs.

    F = Σ_k θ_k T^k X

A sparse product with n²/16 entries or more is slower than a dense one, which costs the same for any pattern.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from gadc.diffusion import polynomial
from gadc.operators import LinearOperator

MIN_DENSE, MAX_DENSE = 64, 5000  # nodes between which a matrix of all pairs may be formed
DENSE_SHARE = 1 / 16  # of the pairs, from which on dense products are faster


def diffuse_columns(operator: LinearOperator, columns: Tensor, theta: Sequence[float]) -> Tensor:
    """Evaluate Σ_k θ_k T^k columns, differentiable in both; dense where the pattern is.

    Args:
        operator: T, n × n.
        columns: Shape (n, c).
        theta: Coefficients θ_0..θ_K.
    """
    n = operator.shape[0]
    if n > MAX_DENSE or operator.pattern.nnz < DENSE_SHARE * n * n or n < MIN_DENSE:
        return polynomial(operator, columns, theta)
    dense = operator.to_dense()
    out = theta[-1] * columns
    for coefficient in reversed(theta[:-1]):
        out = dense @ out + coefficient * columns
    return out
