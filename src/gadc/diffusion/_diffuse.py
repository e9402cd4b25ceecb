"""Graph diffusion F = Σ_k θ_k T^k X, and the closed form of GADC among its many choices of θ.

    GADC (Eq. 15)   θ_k = 1/(λ+1) · (λ/(λ+1))^k,  k = 0..K

The sum is evaluated by Horner's rule with K products, or in the Chebyshev basis with fewer where a relative
error is allowed.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gadc._base.validation import check_choice, check_count, check_features, check_number
from gadc.diffusion._transitions import Transition, make_transition
from gadc.diffusion._truncation import thinnest
from gadc.operators import LinearOperator


class DivergentSeriesWarning(UserWarning):
    """The diffusion series grows with every step, so its sum depends on where it is cut."""


def neumann(lam: float, num_steps: int) -> list[float]:
    """GADC's own weights 1/(λ+1) (λ/(λ+1))^k: the Neumann series of (I + λ(I - T))^-1."""
    lam = check_number("neumann", lam, "lam")
    ratio = lam / (lam + 1)
    return [ratio**k / (lam + 1) for k in range(check_count("neumann", num_steps, "num_steps") + 1)]


def ppr(alpha: float, num_steps: int) -> list[float]:
    """Personalised PageRank α(1-α)^k with restart probability α, cut after `num_steps`."""
    alpha = _check_share("ppr", alpha)
    return [alpha * (1 - alpha) ** k for k in range(check_count("ppr", num_steps, "num_steps") + 1)]


def appnp(alpha: float, num_steps: int) -> list[float]:
    """APPNP's power iteration Z <- (1-α) T Z + α X from Z = X: PageRank whose last term keeps the rest."""
    theta = ppr(alpha, num_steps)
    theta[-1] = (1 - alpha) ** num_steps
    return theta


def sgc(num_steps: int) -> list[float]:
    """SGC: T^K alone (also the adaptive-attack setting of GADC, K = 2 without the terms k = 0, 1)."""
    return [0.0] * check_count("sgc", num_steps, "num_steps") + [1.0]


def ssgc(alpha: float, num_steps: int) -> list[float]:
    """S²GC: α X + (1-α)/K Σ_{k=1..K} T^k X."""
    alpha = _check_share("ssgc", alpha)
    num_steps = check_count("ssgc", num_steps, "num_steps", low=1)
    return [alpha] + [(1 - alpha) / num_steps] * num_steps


def heat(time: float, num_steps: int) -> list[float]:
    """The heat kernel e^-t t^k / k!, cut after `num_steps`."""
    time = check_number("heat", time, "time")
    theta = [math.exp(-time)]
    for k in range(1, check_count("heat", num_steps, "num_steps") + 1):
        theta.append(theta[-1] * time / k)
    return theta


def polynomial(
    operator: LinearOperator, x: Tensor, theta: Sequence[float] | Tensor, *, rtol: float | None = None
) -> Tensor:
    """Σ_k θ_k T^k x.

    Args:
        operator: T.
        x: Matrix (n, d) or vector (n,).
        theta: Coefficients θ_0..θ_K, numbers or a tensor (which may require gradients).
        rtol: Allowed relative error in the Frobenius norm. With it, and a symmetric operator, a thinner
            low-rank part is used where it keeps that error, and fewer than K products where the spectrum is
            known well enough to promise it; otherwise, and without it, the sum is direct. (So it is for a
            `theta` that requires gradients.)
    """
    if len(theta) == 0:
        raise ValueError("polynomial: theta must have at least one coefficient, got none.")
    x = x.contiguous()
    return _evaluate(operator, lambda: x, theta, rtol)


def _evaluate(
    operator: LinearOperator,
    take: Callable[[], Tensor],
    theta: Sequence[float] | Tensor,
    rtol: float | None,
    *,
    overwrite: bool = False,
) -> Tensor:
    """The sum applied to `take()`, which is called anew if the first try, which may overwrite it, fails."""
    if rtol is not None:
        check_number("polynomial", rtol, "rtol", strict=True)
        fixed = not (isinstance(theta, Tensor) and theta.requires_grad)
        if operator.symmetric and len(theta) >= 3 and fixed:
            weights = theta.tolist() if isinstance(theta, Tensor) else list(theta)
            x = take()
            operator, rest = _thinned(operator, x, weights, rtol)
            quick = _chebyshev(operator, x, weights, rest, overwrite=overwrite)
            if quick is not None:
                return quick
            del x  # a copy, perhaps overwritten: not kept beside the next
    return _horner(operator, take(), theta)


def _thinned(
    operator: LinearOperator, x: Tensor, theta: Sequence[float], rtol: float
) -> tuple[LinearOperator, float]:
    """With a thinner low-rank part where half of the error affords it; and the error still allowed."""
    differentiated = torch.is_grad_enabled() and (operator.requires_grad or x.requires_grad)
    if operator.left is None or x.ndim != 2 or differentiated:
        return operator, rtol
    thin = thinnest(operator, x, lambda T, columns: _horner(T, columns, theta), rtol / 2)
    return (operator, rtol) if thin is None else (thin, rtol / 2)


def _horner(operator: LinearOperator, x: Tensor, theta: Sequence[float] | Tensor) -> Tensor:
    """The sum itself, with one product a step."""
    if not isinstance(theta, Tensor) and len(theta) > 1 and _fusible(operator, x):
        return _fused_horner(operator, x, theta)
    out = theta[-1] * x
    for weight in reversed(theta[:-1]):
        out = operator @ out
        # In place, since the product is a fresh tensor that no gradient needs.
        out = out + weight * x if isinstance(weight, Tensor) else out.add_(x, alpha=weight)
    return out


def _fusible(operator: LinearOperator, x: Tensor) -> bool:
    """Whether steps may be fused: no gradient is asked for, and the operator is one that can."""
    if not isinstance(operator, LinearOperator) or x.ndim != 2:
        return False
    return not (torch.is_grad_enabled() and (x.requires_grad or operator.requires_grad))


def _fused_horner(operator: LinearOperator, x: Tensor, theta: Sequence[float]) -> Tensor:
    """One pass over the rows a step; two buffers take turns."""
    scale, out, spare = theta[-1], x, None
    for weight in reversed(theta[:-1]):
        step = operator.apply(out, scale=scale, plus=[(weight, x)], out=spare)
        spare = None if out is x else out
        scale, out = 1.0, step
    return out


def _chebyshev(
    operator: LinearOperator, x: Tensor, theta: Sequence[float], rtol: float, *, overwrite: bool = False
) -> Tensor | None:
    """The same polynomial in the Chebyshev basis of the spectral interval, cut when `rtol` is certain.

    On [low, high] the polynomials satisfy |T_j| <= 1, so the dropped terms add at most Σ|c_j| ‖x‖_F. The sum
    stops as soon as that, with rounding, is below `rtol` times the norm of the answer. None says that it
    never was. Three matrices are alive beside x; two, if x may be overwritten.
    """
    low, high = operator.spectral_interval()
    coefficients = _chebyshev_coefficients(theta, low, high)
    # tails[j] bounds the terms from j on; rounding acts on all of them.
    tails = np.append(np.cumsum(np.abs(coefficients)[::-1])[::-1], 0.0)
    rounding = 10 * torch.finfo(x.dtype).eps * tails[0]
    if high <= low or not rounding < rtol * sum(map(abs, theta)):
        return None  # beyond |t| = 1 the coefficients of a high degree are too large to sum
    center, half = (high + low) / 2, (high - low) / 2
    scale = float(x.detach().norm())

    # T_0 = x, T_1 = B x and T_j = 2 B T_{j-1} - T_{j-2}, with B = (T - center) / half.
    fusible = _fusible(operator, x)
    before, now = x, _step(operator, x, 1 / half, [(-center / half, x)])
    out = (float(coefficients[0]) * x).add_(now, alpha=float(coefficients[1]))
    for j in range(2, len(coefficients) + 1):
        doubt = tails[j] + rounding
        # The norm is worth a pass over memory only where it could settle the matter: ‖out‖ <= tails[0] ‖x‖.
        if doubt <= rtol * tails[0]:
            norm = float(out.detach().norm())
            if doubt * scale <= rtol * (norm - doubt * scale):
                return out
            if rounding * scale > rtol * (norm + doubt * scale):
                return None  # whatever is still to come
        if j < len(coefficients):
            plus, total = [(-2 * center / half, now), (-1.0, before)], (float(coefficients[j]), out)
            if fusible:  # the new term takes the place of the oldest
                spare = None if before is x and not overwrite else before
                product = operator.apply(now, scale=2 / half, plus=plus, out=spare, total=total)
            else:
                product = _step(operator, now, 2 / half, plus)
                out = out.add_(product, alpha=total[0])
            before, now = now, product
    return None


def _step(
    operator: LinearOperator, dense: Tensor, scale: float, plus: Sequence[tuple[float, Tensor]]
) -> Tensor:
    """The sum scale · T dense + Σ weight · summand, differentiable where need be."""
    if _fusible(operator, dense):
        return operator.apply(dense, scale=scale, plus=plus)
    product = (operator @ dense).mul_(scale)
    for weight, summand in plus:
        product = product.add_(summand, alpha=weight)
    return product


def _chebyshev_coefficients(theta: Sequence[float], low: float, high: float) -> NDArray[Any]:
    degree = len(theta) - 1

    def values(points: NDArray[Any]) -> NDArray[Any]:
        return np.polynomial.polynomial.polyval((high - low) / 2 * points + (high + low) / 2, theta)

    return np.polynomial.chebyshev.chebinterpolate(values, degree)


def diffuse(
    x: Tensor,
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    variant: str | Transition = "II",
    lam: float = 32.0,
    num_steps: int = 16,
    eps: float = 1.0,
    rtol: float | None = None,
    phi_x: Tensor | None = None,
    check_convergence: bool = True,
    order: str | None = None,
    **transition_settings: Any,
) -> Tensor:
    """GADC's aggregated features F = S X, S = 1/(λ+1) Σ_{k=0..K} (λ/(λ+1) T)^k (Eq. 15).

    Args:
        x: Node features X, shape (n, d).
        edge_index: Edges, shape (2, m).
        edge_weight: One weight >= 0 an edge; 1 by default.
        variant: "plain", "I", "II", "III", "IV", "IV+" or a transition object.
        lam: Strength λ >= 0 of the smoothing; at 0 the features come back unchanged.
        num_steps: Hops K of the series.
        eps: Radius ε >= 0 of the adversary.
        rtol: Allowed relative error, see `polynomial`; None sums the series directly.
        phi_x: Features that T is made of, where they are not those that are diffused. (The published script
            for IV takes cosines of the raw features and diffuses the row-normalised ones.)
        check_convergence: Estimate ρ(T) and warn if the series diverges.
        order: "cluster" computes in an order in which neighbours lie close together and undoes it at the end:
            the same up to rounding, and faster from some ten hops on. It has no effect on tensors that are
            not on the CPU and where a gradient is asked for.
        **transition_settings: `norm`, `self_loops`, `directed`, ... of `transition`.

    Returns:
        F, shape (n, d), differentiable in `x`, `phi_x` and `edge_weight`.
    """
    x = check_features("diffuse", x)
    source = x if phi_x is None else check_features("diffuse", phi_x, "phi_x").to(x.dtype)
    if source.shape[0] != x.shape[0]:
        raise ValueError(f"diffuse: phi_x must have the {x.shape[0]} rows of x, got {source.shape[0]}.")
    if order is not None:
        check_choice("diffuse", order, "order", ("cluster",))
    theta = neumann(lam, num_steps)
    operator = make_transition(variant, eps=eps, **transition_settings)(source, edge_index, edge_weight)
    if check_convergence and num_steps > 0:
        _warn_if_divergent(operator, lam)
    if order is None or not _fusible(operator, x) or x.device.type != "cpu":
        return polynomial(operator, x, theta, rtol=rtol)
    operator, places = _clustered(operator)  # lets go of the operator in the old order
    out = _evaluate(operator, lambda: x[places], theta, rtol, overwrite=True)
    return torch.empty_like(out).index_copy_(0, places, out)


def _clustered(operator: LinearOperator) -> tuple[LinearOperator, Tensor]:
    """The operator in cluster order, and the nodes in that order."""
    from gadc.operators._ordering import cluster_order, reorder  # imports Numba

    nodes = cluster_order(operator.pattern)
    pattern, values = reorder(operator.pattern, operator.values, nodes)
    left = None if operator.left is None else operator.left[nodes]
    right = None if operator.right is None else operator.right[nodes]
    return replace(operator, pattern=pattern, values=values, left=left, right=right), nodes


def _warn_if_divergent(operator: LinearOperator, lam: float) -> None:
    ratio = lam / (lam + 1)
    if operator.bounds is not None and ratio * max(map(abs, operator.bounds)) < 1:
        return
    radius = operator.spectral_radius()
    if ratio * radius >= 1:
        warnings.warn(
            f"The diffusion series diverges: λ/(λ+1) · ρ(T) = {ratio:.4g} · {radius:.4g} = "
            f"{ratio * radius:.4g} >= 1. F then depends on where the sum is cut: treat num_steps as a scale "
            f"to tune; for a convergent series take lam < {1 / (radius - 1):.3g} or a smaller eps.",
            DivergentSeriesWarning,
            stacklevel=3,
        )


def _check_share(owner: str, alpha: float) -> float:
    if not 0 <= alpha <= 1:
        raise ValueError(f"{owner}: alpha must lie in [0, 1], got {alpha!r}.")
    return float(alpha)
