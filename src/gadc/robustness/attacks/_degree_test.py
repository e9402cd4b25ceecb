"""A likelihood-ratio test on power laws: do the degrees after an attack still look like those before?

Zügner et al. (KDD 2018): degrees d >= d_min follow p(d) ∝ d^-α, where α is estimated as

    α = 1 + k / Σ log(d_i / b),   b = d_min - 1/2,     log p(d_1..d_k) = k log((α - 1) / b) - α Σ log(d_i / b)

and Λ = 2 (l(before) + l(after) - l(both together)) is χ²-distributed with one degree of freedom if the two
samples have the same α. With a threshold of 0.004 the p-value of a flip that passes is at least 0.95.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

D_MIN = 2
_LOG_B = math.log(D_MIN - 0.5)


class DegreeTest:
    """Test of changed degrees against the degrees of the clean graph.

    Args:
        degree: Degrees of all nodes before the attack.
        threshold: Statistic Λ below which a flip passes.
    """

    def __init__(self, degree: Tensor, threshold: float) -> None:
        self.threshold = threshold
        self.clean = _sums(degree)

    def passes(self, degree: Tensor, pairs: Tensor, change: Tensor) -> Tensor:
        """Tell which flips pass.

        Args:
            degree: Degrees before the flip.
            pairs: Candidates, each judged by itself, shape (2, k).
            change: +1 for a pair that becomes an edge, -1 for an edge that is removed, shape (k,).
        """
        return self.statistic(degree, pairs, change) < self.threshold

    def statistic(self, degree: Tensor, pairs: Tensor, change: Tensor) -> Tensor:
        """Compute Λ after each flip by itself."""
        count, total = _sums(degree)
        old, new = degree[pairs], degree[pairs] + change
        count = count + (new >= D_MIN).sum(0) - (old >= D_MIN).sum(0)
        total = total + (_excess(new) - _excess(old)).sum(0)
        clean_count, clean_total = self.clean
        apart = _likelihood(clean_count, clean_total) + _likelihood(count, total)
        return 2 * (apart - _likelihood(clean_count + count, clean_total + total))


def _excess(degree: Tensor) -> Tensor:
    """Compute log(d / b), or 0 below d_min."""
    return torch.where(degree >= D_MIN, degree.double().clamp(min=1).log() - _LOG_B, 0.0)


def _sums(degree: Tensor) -> tuple[Tensor, Tensor]:
    return (degree >= D_MIN).sum(), _excess(degree).sum()


def _likelihood(count: Tensor, total: Tensor) -> Tensor:
    """Compute the log-likelihood at the estimated α; 0 for an empty sample."""
    slope = count / torch.where(count > 0, total, 1.0)  # α - 1
    value = count * (slope.clamp(min=1e-300).log() - _LOG_B) - (slope + 1) * total
    return torch.where(count > 0, value, 0.0)
