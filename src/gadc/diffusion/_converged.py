"""The sum of all terms of GADC's series, with a bound on the error of the result.

    F* = 1/(λ+1) Σ_{k>=0} (ρ T)^k X = (I - ρ T)^-1 X / (λ+1),    ρ = λ/(λ+1)
    R = X/(λ+1) - F + ρ T F,    ‖F - F*‖ <= ‖R‖ / (1 - ρ t)

For a symmetric T, t is the upper end of its spectrum and the norm is Frobenius'; otherwise t = ‖T‖_∞ and the
norm is the largest entry. The Chebyshev iteration solves the system where the spectrum is real, the series
itself is summed elsewhere. GADC (II) has a closed form that needs plain hops and one d × d system only,

    F* = Z (I - ρ s Xᵀ Z)^-1 / (λ+1),    Z = (I - ρ Â)^-1 X        for T = Â + s X Xᵀ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gadc._base.magnitude import norm_of
from gadc._base.scalars import check_number
from gadc._base.validation import check_finite_result
from gadc.operators import LinearOperator, Step, row_sums

_MAX_PRODUCTS = 100_000
_ROUNDING = 4  # units in the last place that a residual may be off
_DEFAULT_RTOL = {torch.float32: 1e-3, torch.float64: 1e-6}


@dataclass(frozen=True, eq=False)
class Converged:
    """A converged diffusion.

    Attributes:
        features: F, shape (n, d).
        error_bound: Bound on the error of F: on ‖F - F*‖_F for a symmetric T, otherwise on the largest error
            of an entry. It includes the rounding of the residual. It is certain where the spectrum of T is
            bounded by theory (plain, II, III, row-normalised graphs), and where the spectrum is estimated (I,
            IV) it fails with a probability below one in a million.
        num_products: Number of products with T, or with its sparse part.

    Examples:
        >>> import torch, gadc
        >>> from gadc.diffusion import converged
        >>> x, edges = torch.ones(3, 1), torch.tensor([[0, 1], [1, 2]])
        >>> found = converged(gadc.transition(x, edges, variant="plain", norm="rw"), x, lam=4.0)
        >>> bool((found.features - x).abs().max() <= found.error_bound)  # a constant stays as it is
        True
    """

    features: Tensor
    error_bound: float
    num_products: int


def converged(operator: LinearOperator, x: Tensor, lam: float, rtol: float | None = None) -> Converged:
    """Sum GADC's series to its end: F* = (I + λ (I - T))^-1 X.

    Args:
        operator: T, as `gadc.transition` returns it.
        x: X, shape (n, d), in the type of the operator.
        lam: Strength λ >= 0 of the smoothing.
        rtol: Relative error at which to stop, 1e-6 by default, and 1e-3 in float32. Where rounding does not
            allow it, the result is the best that was found; its `error_bound` holds in either case.

    Raises:
        ValueError: The series diverges, or a gradient is asked for, which this function does not have.

    Examples:
        >>> import torch, gadc
        >>> from gadc.diffusion import converged
        >>> x, edges = torch.eye(2, dtype=torch.float64), torch.tensor([[0], [1]])
        >>> T = gadc.transition(x, edges, variant="plain")
        >>> found = converged(T, x, lam=1.0)
        >>> found.features
        tensor([[0.7500, 0.2500],
                [0.2500, 0.7500]], dtype=torch.float64)
        >>> found.error_bound < 1e-6
        True
    """
    lam = check_number("converged", lam, "lam")
    if rtol is not None:
        check_number("converged", rtol, "rtol", strict=True)
    if operator.is_differentiated(x):
        raise ValueError("converged: the converged series has no gradient; take a number of steps instead.")
    undirected = operator.pattern.symmetric
    ends = spectral_ends(operator, lam, max_row_sum=lambda: max_row_sum(operator), undirected=undirected)
    return solve(operator, x, lam, rtol, ends)


def solve(
    operator: LinearOperator, x: Tensor, lam: float, rtol: float | None, ends: tuple[float, float, float]
) -> Converged:
    """Sum the series to its end, see `converged`, with known ends of the spectrum (`spectral_ends`)."""
    if lam == 0:
        return Converged(x.clone(), 0.0, 0)
    with torch.no_grad():
        solver = _Solver(operator, x.contiguous(), lam / (lam + 1), *ends)
        found = solver.run(_DEFAULT_RTOL[x.dtype] if rtol is None else rtol)
    check_finite_result("converged", found.features, "F", "scale x or pass float64", x=x)
    return found


def expected_products(lam: float, rtol: float | None = None) -> int:
    """Forecast the number of products in float32: those of the Chebyshev iteration on [-1, 1]."""
    wanted = 0.1 * (_DEFAULT_RTOL[torch.float32] if rtol is None else rtol)
    return math.ceil(math.sqrt(2 * lam + 1) / 2 * math.log(2 * (lam + 1) / wanted)) + 1


def spectral_ends(
    operator: LinearOperator, lam: float, *, max_row_sum: Callable[[], float], undirected: bool
) -> tuple[float, float, float]:
    """Return an interval of the real spectrum of T (both ends 0 where it may not be real), and t.

    Args:
        operator: T.
        lam: Strength λ >= 0 of the smoothing.
        max_row_sum: Computes ‖T‖_∞; called only where it is needed.
        undirected: Whether T is made of an undirected graph, so that its spectrum is real also if its rows
            are normalised.

    Raises:
        ValueError: The series diverges.
    """
    ratio = lam / (lam + 1)
    if ratio == 0:
        return 0.0, 0.0, 0.0
    known = operator.bounds
    if operator.symmetric:
        if known is None or not ratio * max(map(abs, known)) < 1:
            known = operator.spectral_interval()
        _check_converges(max(map(abs, known)), ratio, operator)
        return *known, known[1]
    size = max_row_sum()
    if not ratio * size < 1:
        _check_converges(operator.spectral_radius(), ratio, operator)
        raise ValueError(
            f"converged: the error of a T that is not symmetric can be bounded only for λ/(λ+1) ‖T‖_∞ < 1, "
            f"got {ratio * size:.4g}; take a number of steps, a smaller lam, or norm='sym'."
        )
    is_real = known is not None and undirected and operator.left is None
    return *(known if known is not None and is_real else (0.0, 0.0)), size


def _check_converges(radius: float, ratio: float, operator: LinearOperator) -> None:
    if not ratio * radius < 1:
        radius = min(radius, operator.spectral_radius())
    if not ratio * radius < 1:
        raise ValueError(
            f"converged: λ/(λ+1) ρ(T) must be below 1 for the series to converge, got {ratio * radius:.4g}; "
            f"take lam < {1 / max(radius - 1, 1e-300):.3g}, a smaller eps, or a number of steps."
        )


def max_row_sum(operator: LinearOperator) -> float:
    """Return ‖T‖_∞, or a bound on it where there is a low-rank part."""
    sums = row_sums(operator.pattern, operator.values.abs())
    if operator.left is not None and operator.right is not None:
        scale = abs(float(operator.low_rank_scale))
        sums = sums + scale * (operator.left.abs() @ operator.right.abs().sum(0))
    return float(sums.max()) * (1 + 4 * torch.finfo(operator.dtype).eps)


@dataclass(eq=False)
class _Solver:
    """Solve (I - ρ T) F = X/(λ+1).

    Attributes:
        operator: T.
        x: X, shape (n, d).
        ratio: ρ.
        low: Lower end of the spectrum of T.
        high: Upper end of it.
        size: t, see the module.
    """

    operator: LinearOperator
    x: Tensor
    ratio: float
    low: float
    high: float
    size: float
    products: int = 0

    def run(self, rtol: float) -> Converged:
        """Return F, from the closed form where there is one, and iterations until the bound holds."""
        right = (1 - self.ratio) * self.x
        features = self._closed_form(rtol) if self._has_closed_form() else right.clone()
        best = math.inf
        while True:
            plus = [(1.0, right), (-1.0, features)]
            rest = self._apply(self.operator, features, Step(scale=self.ratio, plus=plus))
            bound, target = self._bound(rest, features, right), rtol * self._norm(features)
            # A round that gains little shows that rounding, not the number of products, is the limit.
            if bound <= target or not bound < 0.9 * best or self.products > _MAX_PRODUCTS:
                return Converged(features, bound, self.products)
            best = bound
            features += self._iterate(self.operator, rest, self.low, self.high, 0.1 * rtol)

    def _norm(self, values: Tensor) -> float:
        return norm_of(values) if self.operator.symmetric else float(values.abs().max())

    def _bound(self, rest: Tensor, features: Tensor, right: Tensor) -> float:
        unit = _ROUNDING * torch.finfo(rest.dtype).eps
        rounding = unit * (self._norm(right) + (1 + self.ratio * max(self.size, 1.0)) * self._norm(features))
        return (self._norm(rest) + rounding) / (1 - self.ratio * self.size)

    def _apply(self, operator: LinearOperator, dense: Tensor, step: Step) -> Tensor:
        self.products += 1
        return operator.apply(dense, step)

    def _iterate(
        self, operator: LinearOperator, right: Tensor, low: float, high: float, rtol: float
    ) -> Tensor:
        """Solve (I - ρ T) Y = right by the Chebyshev iteration; `rtol` is relative to the solution."""
        center, half = 1 - self.ratio * (high + low) / 2, self.ratio * (high - low) / 2
        rest, out, change = right, torch.zeros_like(right), right / center
        weight = half / center  # at 0 the iteration sums the series
        enough = rtol * (1 - self.ratio * self.size) * self._norm(right)
        while self._norm(rest) > enough and self.products <= _MAX_PRODUCTS:
            out += change
            plus = [(1.0, rest), (-1.0, change)]
            spare = None if rest is right else rest
            rest = self._apply(operator, change, Step(scale=self.ratio, plus=plus, out=spare))
            gain = 2 / (2 * center - half * weight)
            change.mul_(half * gain / 2 * weight).add_(rest, alpha=gain)
            weight = half * gain / 2
        return out

    def _has_closed_form(self) -> bool:
        left, bounds = self.operator.left, self.operator.sparse_bounds
        same = left is not None and left is self.operator.right and left.data_ptr() == self.x.data_ptr()
        return same and self.operator.symmetric and bounds is not None and 2 * self.x.shape[1] <= len(self.x)

    def _closed_form(self, rtol: float) -> Tensor:
        """Return Z (I - ρ s Xᵀ Z)^-1 / (λ+1); the small system is in float64."""
        low, high = self.operator.sparse_bounds or (-1.0, 1.0)
        plain = replace(self.operator, left=None, right=None, low_rank_scale=1.0, bounds=None)
        hops = self._iterate(plain, self.x, low, high, 0.1 * rtol)
        small = self.ratio * float(self.operator.low_rank_scale) * (self.x.T @ hops).double()
        core = torch.eye(len(small), dtype=torch.float64, device=small.device) - small
        turned = torch.linalg.inv(core) * (1 - self.ratio)
        return torch.mm(hops, turned.to(hops.dtype))
