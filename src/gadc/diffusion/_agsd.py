"""The convex problem behind AGSD and the descent that solves it.

    q(F) = ‖F-X‖² + λ tr(Fᵀ L̃ F) + λε ‖F Fᵀ‖_F,    ∇q/2 = (I + λL̃) F - X + λε F G / ‖G‖_F,    G = Fᵀ F

Along a line F + tP the first two terms are a quadratic in t and ‖G‖_F² is a quartic, with coefficients that
are inner products of d × d matrices. So every line search is exact and costs only scalar operations, and q
falls with every step, whatever λ and ε are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gadc.diffusion._polynomial import polynomial
from gadc.diffusion._series import neumann
from gadc.operators import LinearOperator


@dataclass(frozen=True)
class AGSDProblem:
    """The objective q and its gradient.

    Args:
        plain: The plain transition Â.
        x: Features X, shape (n, d).
        lam: λ >= 0.
        eps: ε >= 0.
    """

    plain: LinearOperator
    x: Tensor
    lam: float
    eps: float

    def curve(self, P: Tensor) -> Tensor:
        """Compute (I + λL̃) P: half the Hessian of the quadratic part, times P."""
        return torch.add((1 + self.lam) * P, self.plain @ P, alpha=-self.lam)

    def half_gradient(self, F: Tensor, curved: Tensor, gram: Tensor) -> Tensor:
        """Compute ∇q/2 from F, (I + λL̃) F and G."""
        gradient = curved - self.x
        norm = float(torch.linalg.matrix_norm(gram))
        if self.eps == 0 or norm == 0:
            return gradient
        return torch.addmm(gradient, F, gram, alpha=self.lam * self.eps / norm)

    def objective(self, F: Tensor, curved: Tensor, gram: Tensor) -> float:
        """Compute q from F, (I + λL̃) F and G."""
        adversary = self.lam * self.eps * math.sqrt(dot(gram, gram))
        return dot(F, curved) - 2 * dot(F, self.x) + dot(self.x, self.x) + adversary

    def evaluate(self, F: Tensor) -> tuple[float, float]:
        """Compute q(F) and ‖∇q(F)‖_F from F alone."""
        curved, gram = self.curve(F), F.T @ F
        half = self.half_gradient(F, curved, gram)
        return self.objective(F, curved, gram), 2 * math.sqrt(dot(half, half))

    def start(self) -> Tensor:
        """Return the features diffused by Â, which needs sparse products only, scaled so that q is lowest."""
        F = polynomial(self.plain, self.x, neumann(self.lam, 16))
        gram = F.T @ F
        # Every term of q(sF) is linear or quadratic in s, so the best s is a quotient.
        quadratic = dot(F, self.curve(F)) + self.lam * self.eps * math.sqrt(dot(gram, gram))
        return F * (dot(F, self.x) / quadratic) if quadratic > 0 else F


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
    def through(cls, problem: AGSDProblem, F: Tensor, curved: Tensor, gram: Tensor, P: Tensor) -> Line:
        """Take the line from F in direction P, where G(t) = G + t (M + Mᵀ) + t² C, M = FᵀP, C = PᵀP."""
        slope, bend = 2 * dot(curved - problem.x, P), dot(P, problem.curve(P))
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
        while self.derivative(high) < 0:
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
    """Minimise q by Polak-Ribière+ conjugate gradients until ‖∇q‖_F <= target.

    Args:
        problem: The objective.
        target: Gradient norm at which to stop.
        max_iter: Largest number of steps.
        progress: Called after each step with its number and ‖∇q‖_F / target.

    Returns:
        F, and q before the first step and after each.
    """
    F = problem.start()
    curved, gram = problem.curve(F), F.T @ F
    history = [problem.objective(F, curved, gram)]
    half = problem.half_gradient(F, curved, gram)
    square, direction = dot(half, half), -half
    while 2 * math.sqrt(square) > target and len(history) <= max_iter:
        if dot(half, direction) >= 0:  # not downhill: restart from steepest descent
            direction = -half
        line = Line.through(problem, F, curved, gram, direction)
        step = line.minimum()
        change = line.change(step)
        if not change < 0:  # the number format allows no further descent
            break
        F = torch.add(F, direction, alpha=step)
        curved = problem.curve(F)
        gram = F.T @ F
        history.append(history[-1] + change)
        fresh = problem.half_gradient(F, curved, gram)
        momentum = max(0.0, (dot(fresh, fresh) - dot(fresh, half)) / square)
        half, square = fresh, dot(fresh, fresh)
        direction = torch.add(-half, direction, alpha=momentum)
        if progress is not None:
            progress(len(history) - 1, 2 * math.sqrt(square) / target)
    return F, history


def dot(a: Tensor, b: Tensor) -> float:
    """Compute ⟨a, b⟩, summed in float64."""
    return float((a * b).sum(dtype=torch.float64))
