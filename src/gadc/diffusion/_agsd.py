"""The convex problem behind AGSD and the descent that solves it.

    q(F) = ‖F-X‖² + λ tr(Fᵀ L̃ F) + λε ‖F Fᵀ‖_F,    ∇q/2 = F - X + λ L̃F + λε F G / ‖G‖_F,    G = Fᵀ F

Along a line F + tP the first two terms are a quadratic in t and ‖G‖_F² is a quartic, with coefficients that
are inner products of d × d matrices. So every line search is exact and costs only scalar operations, and q
falls with every step, whatever λ and ε are.

All of it is computed in float64, and the rounding error of the gradient is bounded: a gradient that is not
larger than this bound is neither followed nor trusted. With u the unit of rounding, k the largest number of
entries in a row of Â, and r the smaller of n and d, the bound has these parts:

    λ (2k + 32) u ‖F‖_F                         degrees are sums of k weights, rows of ÂF sums of k products
    λε (4 max(n, d) √r + 400) u ‖F‖_F           ‖ΔG‖_F <= γ_n ‖F‖_F², ‖G‖_F >= ‖F‖_F² / √r, and the product FG
    8 u (‖F‖_F + ‖X‖_F)                         the other sums
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from gadc.diffusion._polynomial import polynomial
from gadc.diffusion._series import neumann
from gadc.operators import LinearOperator

_ROUNDING = torch.finfo(torch.float64).eps / 2


@dataclass(frozen=True)
class AGSDProblem:
    """The objective q, its gradient, and a bound of the rounding error of the gradient.

    Args:
        plain: The plain transition Â, in float64.
        x: Features X, shape (n, d), in float64.
        lam: λ >= 0.
        eps: ε >= 0.
    """

    plain: LinearOperator
    x: Tensor
    lam: float
    eps: float

    def at(self, F: Tensor) -> Point:
        """Evaluate q and its gradient at F."""
        rough = self.rough(F)
        quadratic = torch.add(F - self.x, rough, alpha=self.lam)
        # The smaller of Fᵀ F and F Fᵀ; both have the same norm, and F (Fᵀ F) = (F Fᵀ) F.
        outer = F.shape[1] > F.shape[0]
        gram = F @ F.T if outer else F.T @ F
        norm = math.sqrt(dot(gram, gram))
        half = quadratic
        if self.eps > 0 and norm > 0:
            factors = (gram, F) if outer else (F, gram)
            half = torch.addmm(quadratic, *factors, alpha=self.lam * self.eps / norm)
        distance = F - self.x
        # The true tr(Fᵀ L̃ F) is not negative; a difference of large terms may be.
        q = dot(distance, distance) + self.lam * max(dot(F, rough), 0.0) + self.lam * self.eps * norm
        size = math.sqrt(dot(F, F))
        return Point(F, quadratic, half, gram, q, math.sqrt(dot(half, half)), self._rounding(size), size)

    def rough(self, F: Tensor) -> Tensor:
        """Compute L̃ F = F - Â F."""
        return F - self.plain @ F

    def start(self) -> Tensor:
        """Return the features diffused by Â, which needs sparse products only, scaled so that q is lowest."""
        F = polynomial(self.plain, self.x, neumann(self.lam, 16))
        gram = F.T @ F
        # Every term of q(sF) is linear or quadratic in s, so the best s is a quotient.
        smooth = dot(F, F) + self.lam * max(dot(F, self.rough(F)), 0.0)
        quadratic = smooth + self.lam * self.eps * math.sqrt(dot(gram, gram))
        return F * (dot(F, self.x) / quadratic) if quadratic > 0 else F

    def _rounding(self, size: float) -> float:
        """Bound the rounding error of ∇q/2 at an F of Frobenius norm `size`; see the head of this file."""
        n, d = self.x.shape
        gram = 4 * max(n, d) * math.sqrt(min(n, d)) + 400
        relative = self.lam * (2 * self._longest_row + 32) + self.lam * self.eps * gram + 8
        return _ROUNDING * (relative * size + 8 * self._size)

    @cached_property
    def _longest_row(self) -> int:
        return int(self.plain.pattern.row_ptr.diff().max())

    @cached_property
    def _size(self) -> float:
        return math.sqrt(dot(self.x, self.x))


@dataclass(frozen=True)
class Point:
    """A point of the descent.

    Attributes:
        F: The features.
        quadratic: Half the gradient of the quadratic part, F - X + λ L̃F.
        half: Half the gradient, ∇q/2.
        gram: FᵀF, or F Fᵀ if that is smaller.
        q: The objective.
        slope: ‖∇q/2‖_F, an upper bound of ‖F - F*‖_F up to rounding.
        rounding: Upper bound of the rounding error of `half`, in the Frobenius norm.
        size: ‖F‖_F.
    """

    F: Tensor
    quadratic: Tensor
    half: Tensor
    gram: Tensor
    q: float
    slope: float
    rounding: float
    size: float

    @property
    def error(self) -> float:
        """Upper bound of ‖F - F*‖_F that holds in spite of rounding."""
        return (1 + 1e-12) * self.slope + self.rounding

    def is_below(self, other: Point) -> bool:
        """Whether q is not higher than at `other`, up to the rounding of both."""
        slack = 4 * (self.size * self.rounding + other.size * other.rounding + 64 * _ROUNDING * other.q)
        return self.q <= other.q + slack


@dataclass(frozen=True)
class Line:
    """The convex function t -> q(F + tP) - q(F), described by scalars alone.

    Args:
        slope: Slope of the quadratic part at 0.
        bend: Coefficient of t² in the quadratic part.
        adversary: λε.
        quartic: Coefficients of ‖G(t)‖_F² in t, lowest first.
    """

    slope: float
    bend: float
    adversary: float
    quartic: tuple[float, float, float, float, float]

    @classmethod
    def through(cls, problem: AGSDProblem, point: Point, P: Tensor) -> Line:
        """Take the line from F in direction P, where G(t) = G + t (M + Mᵀ) + t² C, M = FᵀP, C = PᵀP."""
        F, gram = point.F, point.gram
        slope = 2 * dot(point.quadratic, P)
        bend = dot(P, P) + problem.lam * max(dot(P, problem.rough(P)), 0.0)
        if problem.eps == 0:
            return cls(slope, bend, 0.0, (1.0, 0.0, 0.0, 0.0, 0.0))
        M, C = F.T @ P, P.T @ P
        quartic = (
            dot(gram, gram),
            4 * dot(gram, M),
            2 * (dot(M, M) + dot(M, M.T) + dot(gram, C)),
            4 * dot(M, C),
            dot(C, C),
        )
        return cls(slope, bend, problem.lam * problem.eps, quartic)

    def change(self, t: float) -> float:
        """Compute q(F + tP) - q(F)."""
        above, below = self._root(t), self._root(0.0)
        # √a - √b as (a - b)/(√a + √b), which does not cancel.
        rise = np.polynomial.polynomial.polyval(t, (0.0, *self.quartic[1:])) / max(above + below, 1e-300)
        return t * self.slope + t * t * self.bend + self.adversary * float(rise)

    def derivative(self, t: float) -> float:
        """Compute the slope at t."""
        inner = np.polynomial.polynomial.polyval(t, [k * c for k, c in enumerate(self.quartic)][1:])
        return self.slope + 2 * t * self.bend + self.adversary * float(inner) / max(2 * self._root(t), 1e-300)

    def minimum(self) -> float:
        """Find the t of the minimum: bracket it by doubling, then bisect the derivative."""
        low, high = 0.0, 1.0
        while self.derivative(high) < 0 and high < 1e300:
            low, high = high, 2 * high
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.derivative(middle) < 0 else (low, middle)
        return low

    def _root(self, t: float) -> float:
        return math.sqrt(max(float(np.polynomial.polynomial.polyval(t, self.quartic)), 0.0))


def descend(
    problem: AGSDProblem, target: float, max_iter: int, progress: Callable[[int, float], None] | None = None
) -> tuple[Tensor, list[float]]:
    """Minimise q by Polak-Ribière+ conjugate gradients until ‖F - F*‖_F <= target is certain.

    The descent also ends where the gradient is no longer distinguished from its rounding error.

    Args:
        problem: The objective; at most as many columns as rows.
        target: Distance from the minimiser at which to stop.
        max_iter: Largest number of steps.
        progress: Called after each step with its number and the bound of the distance / target.

    Returns:
        F, and q before the first step and after each; it never rises.
    """
    point = problem.at(problem.start())
    history, direction = [point.q], -point.half
    while target < point.error and len(history) <= max_iter and point.slope > 2 * point.rounding:
        if dot(point.half, direction) >= 0:  # not downhill: restart from steepest descent
            direction = -point.half
        line = Line.through(problem, point, direction)
        step = line.minimum()
        if not line.change(step) < 0:
            break
        fresh = problem.at(torch.add(point.F, direction, alpha=step))
        if not fresh.is_below(point):
            break
        history.append(min(fresh.q, history[-1]))  # a rise is smaller than its rounding error
        momentum = (fresh.slope**2 - dot(fresh.half, point.half)) / point.slope**2
        direction = torch.add(-fresh.half, direction, alpha=max(0.0, momentum))
        point = fresh
        if progress is not None:
            progress(len(history) - 1, point.error / target)
    return point.F, history


def dot(a: Tensor, b: Tensor) -> float:
    """Compute ⟨a, b⟩, summed in float64."""
    return float((a * b).sum(dtype=torch.float64))
