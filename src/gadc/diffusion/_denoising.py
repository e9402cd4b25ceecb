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
from dataclasses import dataclass, field

import torch
from torch import Tensor

from gadc._base.validation import check_count, check_features, check_number
from gadc.diffusion._agsd import AGSDProblem, descend
from gadc.diffusion._similarity import power_of_two
from gadc.diffusion._transitions import Plain


class NotConvergedWarning(UserWarning):
    """An iteration stopped before it reached its tolerance."""


@dataclass(frozen=True)
class AGSDSolution:
    """The result of `minimize_agsd`, with a bound of its distance from the true minimiser.

    Attributes:
        F: Denoised features, shape (n, d).
        objective: q(F).
        gradient_norm: ‖∇q(F)‖_F.
        error_bound: ‖∇q(F)‖_F / 2, an upper bound of ‖F - F*‖_F.
        iterations: Number of steps taken.
        converged: Whether the gradient norm reached the tolerance.
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

    The method is Polak-Ribière+ conjugate gradients from the plainly diffused features. Along a line, q is a
    quadratic plus the root of a quartic whose coefficients are a few inner products of d × d matrices. So
    each line search is exact and costs little beside the products, and q falls with every step, whatever λ
    and ε are.

    Args:
        x: Node features X, shape (n, d).
        edge_index: Edges, shape (2, m).
        edge_weight: Weights >= 0, one per edge, shape (m,); 1 each by default.
        lam: Strength λ >= 0 of the smoothing, 32 by default.
        eps: Radius ε >= 0 of the adversary, 1 by default; at 0 this solves GSD, (I + λ L̃) F = X.
        tol: Stop at ‖∇q(F)‖_F <= tol · ‖X‖_F, 1e-4 by default.
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
    x = check_features("minimize_agsd", x).detach()
    lam = check_number("minimize_agsd", lam, "lam")
    eps = check_number("minimize_agsd", eps, "eps")
    tol = check_number("minimize_agsd", tol, "tol", strict=True)
    max_iter = check_count("minimize_agsd", max_iter, "max_iter")
    with torch.no_grad():
        plain = Plain(self_loops=self_loops)(x, edge_index, edge_weight).detach()
        scale = power_of_two(x)  # the minimiser of c X is c F*
        x = x / scale
        # The rows of F* = (...)^-1 X lie in the row space of X, so wide features are solved in that space.
        basis = torch.linalg.qr(x.T).Q if x.shape[1] > x.shape[0] else None
        problem = AGSDProblem(plain, x if basis is None else x @ basis, lam, eps)
        target = tol * float(x.norm())
        F, history = descend(problem, target, max_iter, progress)
        objective, gradient_norm = problem.evaluate(F)
        F = scale * (F if basis is None else F @ basis.T)
    gradient_norm, target = scale * gradient_norm, scale * target
    converged = gradient_norm <= target
    if not converged:
        warnings.warn(
            f"minimize_agsd: stopped after {len(history) - 1} steps at gradient norm {gradient_norm:.3g}, "
            f"above the tolerance tol · ‖X‖_F = {target:.3g}; raise max_iter or tol, or pass float64.",
            NotConvergedWarning,
            stacklevel=2,
        )
    objective, *history = (scale * (scale * value) for value in (objective, *history))
    return AGSDSolution(F, objective, gradient_norm, gradient_norm / 2, len(history) - 1, converged, history)
