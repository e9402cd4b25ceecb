"""Graph signal denoising against an adversary (AGSD): the exact minimiser, with a certificate.

    min_F max_{‖δ‖_F <= ε} ‖F-X‖² + λ tr(Fᵀ (L̃+δ) F)  =  min_F q(F),
    q(F) = ‖F-X‖² + λ tr(Fᵀ L̃ F) + λε ‖F Fᵀ‖_F

Since ‖F Fᵀ‖_F is the squared Schatten-4 norm of F, q
is convex. With its first term it is strongly convex with modulus 2, so its minimiser F* is unique, and
‖F - F*‖_F <= ‖∇q(F)‖_F / 2 for every F.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from gadc._base.magnitude import power_of_two
from gadc._base.scalars import check_count, check_number
from gadc._base.validation import check_features, check_finite_result
from gadc.diffusion._agsd import AGSDProblem, descend
from gadc.diffusion._transitions import Plain

_MAX_STRENGTH = 1e12  # of λ (1 + ε)


class NotConvergedWarning(UserWarning):
    """An iteration stopped before it reached its tolerance."""


@dataclass(frozen=True)
class AGSDSolution:
    """The result of `minimize_agsd`, with a bound of its distance from the true minimiser.

    Attributes:
        F: Denoised features, shape (n, d).
        objective: q(F).
        gradient_norm: ‖∇q(F)‖_F.
        error_bound: Upper bound of ‖F - F*‖_F: ‖∇q(F)‖_F / 2, plus what rounding may add to it.
        iterations: Number of steps taken.
        converged: Whether the gradient norm reached the tolerance, in spite of rounding.
        history: q before the first step and after each; it never rises.

    Examples:
        >>> import torch, gadc
        >>> solution = gadc.minimize_agsd(torch.eye(3), torch.tensor([[0, 1], [1, 2]]), lam=2.0)
        >>> solution.converged, solution.error_bound < 1e-4
        (True, True)
    """

    F: Tensor
    objective: float
    gradient_norm: float
    error_bound: float
    iterations: int
    converged: bool
    history: list[float] = field(repr=False)


def minimize_agsd(
    x: Tensor,
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    lam: float = 32.0,
    eps: float = 1.0,
    tol: float = 1e-4,
    max_iter: int = 1000,
    self_loops: float = 1.0,
    progress: Callable[[int, float], None] | None = None,
) -> AGSDSolution:
    """Find the exact minimiser of AGSD, matrix-free and in O(nd) memory.

    The computation is in float64, whatever the type of `x`; F is rounded to that type at the end. The method
    is Polak-Ribière+ conjugate gradients from the plainly diffused features. Along a line, q is a
    quadratic plus the root of a quartic whose coefficients are a few inner products of d × d matrices. So
    each line search is exact and costs little beside the products, and q falls with every step, whatever λ
    and ε are.

    Args:
        x: Node features X, shape (n, d).
        edge_index: Edges, shape (2, m).
        edge_weight: Weights >= 0, one per edge, shape (m,); 1 each by default.
        lam: Strength λ >= 0 of the smoothing, 32 by default; λ (1 + ε) is at most 1e12.
        eps: Radius ε >= 0 of the adversary, 1 by default; at 0 this solves GSD, (I + λ L̃) F = X.
        tol: Stop at ‖∇q(F)‖_F <= tol · ‖X‖_F, in spite of rounding, 1e-4 by default.
        max_iter: Largest number of steps, 1000 by default; then the result has `converged=False`, and a
            `NotConvergedWarning` is issued.
        self_loops: Weight of the self-loops in Ã, 1 by default.
        progress: Called after each step with its number and the gradient norm as a multiple of the tolerance;
            by default nothing is called.

    Returns:
        The minimiser with its certificate.

    Examples:
        >>> import torch, gadc
        >>> x, edges = torch.tensor([[0.0], [2.0]]), torch.tensor([[0], [1]])
        >>> gadc.minimize_agsd(x, edges, lam=1.0, eps=0.0).F  # GSD: (I + L̃) F = X
        tensor([[0.5000],
                [1.5000]])
    """
    owner = "minimize_agsd"
    given = check_features(owner, x).detach()
    lam, eps = check_number(owner, lam, "lam"), check_number(owner, eps, "eps")
    tol = check_number(owner, tol, "tol", strict=True)
    max_iter = check_count(owner, max_iter, "max_iter")
    if not lam * (1 + eps) <= _MAX_STRENGTH:
        raise ValueError(
            f"{owner}: lam · (1 + eps) must be at most {_MAX_STRENGTH:g}, since rounding hides the minimiser "
            f"beyond, got {lam * (1 + eps):g}."
        )
    with torch.no_grad():
        scale = power_of_two(given)  # the minimiser of c X is c F*
        x = given.double() / scale
        plain = Plain(self_loops=self_loops)(x, edge_index, edge_weight)
        problem = AGSDProblem(plain, x, lam, eps)
        target = tol * float(x.norm()) / 2
        F, history = _solve(problem, target, max_iter, progress)
        point = problem.at(F)
        F = (scale * F).to(given.dtype)
        rounded = float((F.double() / scale - point.F).norm())
    solution = AGSDSolution(
        F=F,
        objective=scale * (scale * point.q),
        gradient_norm=scale * (2 * point.slope),
        error_bound=scale * (point.error + rounded),
        iterations=len(history) - 1,
        converged=point.error <= target,
        history=[scale * (scale * value) for value in history],
    )
    check_finite_result(owner, F, "F", "scale x down")
    check_finite_result(owner, solution.error_bound, "the error bound", "scale x down")
    check_finite_result(owner, solution.objective + solution.history[0], "the objective", "scale x down")
    if not solution.converged:
        _warn(solution, scale * (2 * target), scale * (2 * point.rounding))
    return solution


def _solve(
    problem: AGSDProblem, target: float, max_iter: int, progress: Callable[[int, float], None] | None
) -> tuple[Tensor, list[float]]:
    """Descend to within `target` of the minimiser; wide features are solved in a space of n columns."""
    x = problem.x
    if x.shape[1] <= x.shape[0]:
        return descend(problem, target, max_iter, progress)
    # The rows of F* = (...)^-1 X lie in the row space of X.
    basis = torch.linalg.qr(x.T).Q
    narrow = replace(problem, x=x @ basis)
    F, history = descend(narrow, 0.999 * target, max_iter, progress)  # mapping back rounds once more
    return F @ basis.T, history


def _warn(solution: AGSDSolution, target: float, rounding: float) -> None:
    reason = (
        f"rounding alone may be {rounding:.3g}; take a smaller lam or eps, or raise tol"
        if 3 * rounding > target
        else "raise max_iter or tol"
    )
    warnings.warn(
        f"minimize_agsd: stopped after {solution.iterations} steps at gradient norm "
        f"{solution.gradient_norm:.3g}, above the tolerance tol · ‖X‖_F = {target:.3g}; {reason}.",
        NotConvergedWarning,
        stacklevel=3,
    )
