"""The Chebyshev basis: Σ_k θ_k T^k X to a stated error, with fewer products than K.

    B = (T - c I) / h with c, h the centre and half the width of an interval that holds the spectrum of T
    C_0 = X,    C_1 = B X,    C_j = 2 B C_{j-1} - C_{j-2},    Σ_k θ_k T^k X = Σ_j γ_j C_j

On that interval |C_j| <= 1, so the terms from j on add at most Σ|γ_j| ‖X‖_F, and the sum may stop early.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gadc._base.magnitude import norm_of
from gadc.operators import LinearOperator, Step

_MAX_DEGREE = 2000  # the coefficients of a degree K take K² numbers


@dataclass(frozen=True)
class _Cut:
    """The rule that decides after which term the sum may stop.

    Attributes:
        tails: `tails[j]` bounds the terms from j on, relative to ‖X‖_F.
        rounding: Bound of the rounding error, which acts on all terms, relative to ‖X‖_F.
        norm: ‖X‖_F.
        rtol: Allowed relative error.
    """

    tails: NDArray[Any]
    rounding: float
    norm: float
    rtol: float

    def decide(self, out: Tensor, terms: int) -> bool | None:
        """Return True if `out`, the first terms, is precise enough, False if no sum can be, else None."""
        doubt = self.tails[terms] + self.rounding
        # ‖out‖ <= tails[0] ‖X‖, so below this the norm, a pass over memory, could not settle the question.
        if doubt > self.rtol * self.tails[0]:
            return None
        size = norm_of(out)
        if not math.isfinite(size):
            return False
        if doubt * self.norm <= self.rtol * (size - doubt * self.norm):
            return True
        if self.rounding * self.norm > self.rtol * (size + doubt * self.norm):
            return False
        return None


def chebyshev(operator: LinearOperator, x: Tensor, theta: Sequence[float], rtol: float) -> Tensor | None:
    """Sum the series until its relative error is certain to be at most `rtol`.

    Args:
        operator: T, symmetric.
        x: X, shape (n, d), contiguous.
        theta: Coefficients θ_0..θ_K with K >= 1.
        rtol: Allowed relative error in the Frobenius norm.

    Returns:
        The sum, shape (n, d), differentiable in `x` and in the parts of the operator; None where the error
        cannot be promised.
    """
    if len(theta) - 1 > _MAX_DEGREE:
        return None
    low, high = operator.spectral_interval()
    coefficients = _coefficients(theta, low, high)
    if high <= low or not np.isfinite(coefficients).all():
        return None
    tails = np.append(np.cumsum(np.abs(coefficients)[::-1])[::-1], 0.0)
    rounding = 10 * torch.finfo(x.dtype).eps * tails[0]
    if not rounding < rtol * sum(map(abs, theta)):
        return None  # beyond |t| = 1 the coefficients of a high degree are too large to sum
    center, half = (high + low) / 2, (high - low) / 2
    largest = max(abs(center), 1.0, float(np.abs(coefficients).max()))
    if half == 0 or not 2 * largest / half <= torch.finfo(x.dtype).max:
        return None  # the factors of the recursion would overflow
    cut = _Cut(tails, rounding, norm_of(x), rtol)
    before, now = x, operator.apply(x, Step(scale=1 / half, plus=[(-center / half, x)]))
    out = (float(coefficients[0]) * x).add_(now, alpha=float(coefficients[1]))
    for j in range(2, len(coefficients)):
        verdict = cut.decide(out, j)
        if verdict is not None:
            return out if verdict else None
        step = Step(
            scale=2 / half,
            plus=[(-2 * center / half, now), (-1.0, before)],
            out=None if before is x else before,  # the new term takes the place of the oldest
            total=(float(coefficients[j]), out),
        )
        before, now = now, operator.apply(now, step)
    return out if cut.decide(out, len(coefficients)) else None


def _coefficients(theta: Sequence[float], low: float, high: float) -> NDArray[Any]:
    """Return the coefficients γ of Σ_k θ_k t^k in the Chebyshev basis of [low, high]."""
    degree = len(theta) - 1

    def values(points: NDArray[Any]) -> NDArray[Any]:
        return np.polynomial.polynomial.polyval((high - low) / 2 * points + (high + low) / 2, theta)

    with np.errstate(over="ignore", invalid="ignore"):  # the caller does not use what overflowed
        return np.polynomial.chebyshev.chebinterpolate(values, degree)
