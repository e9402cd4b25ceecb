"""Coefficients θ of a graph diffusion F = Σ_k θ_k T^k X.

    neumann   θ_k = 1/(λ+1) · (λ/(λ+1))^k                GADC (Eq. 15)
    ppr       θ_k = α (1-α)^k                            personalised PageRank
    appnp     θ_k = α (1-α)^k for k < K, (1-α)^K         APPNP
    sgc       θ_K = 1, all others 0                      SGC
    ssgc      θ_0 = α, all others (1-α)/K                S²GC
    heat      θ_k = e^-t t^k / k!                        heat kernel

Every function returns the K+1 coefficients θ_0..θ_K as a list of floats.
"""

from __future__ import annotations

import math

from gadc._base.scalars import check_count, check_number, check_share

MAX_STEPS = 1_000_000
_LONG_TIME = 700.0  # beyond it, e^-t and with it the recursion of the heat kernel underflows


def neumann(lam: float, num_steps: int) -> list[float]:
    """Return GADC's own coefficients 1/(λ+1) (λ/(λ+1))^k: the Neumann series of (I + λ(I - T))^-1.

    Args:
        lam: Strength λ >= 0 of the smoothing; at 0 the features stay unchanged.
        num_steps: Number of steps K >= 0 of the diffusion.

    Examples:
        >>> from gadc.series import neumann
        >>> neumann(1.0, 3)
        [0.5, 0.25, 0.125, 0.0625]
    """
    lam = check_number("neumann", lam, "lam")
    ratio = lam / (lam + 1)
    return [ratio**k / (lam + 1) for k in range(_check_steps("neumann", num_steps) + 1)]


def ppr(alpha: float, num_steps: int) -> list[float]:
    """Return the coefficients α(1-α)^k of personalised PageRank, cut after `num_steps`.

    Args:
        alpha: Restart probability α in [0, 1].
        num_steps: Number of steps K >= 0 of the diffusion.

    Examples:
        >>> from gadc.series import ppr
        >>> ppr(0.5, 2)
        [0.5, 0.25, 0.125]
    """
    alpha = check_share("ppr", alpha, "alpha")
    return [alpha * (1 - alpha) ** k for k in range(_check_steps("ppr", num_steps) + 1)]


def appnp(alpha: float, num_steps: int) -> list[float]:
    """Return the coefficients of APPNP's power iteration Z <- (1-α) T Z + α X, started at Z = X.

    They are those of personalised PageRank, except that the last one takes all the remaining weight.

    Args:
        alpha: Restart probability α in [0, 1].
        num_steps: Number of iterations K >= 0.

    Examples:
        >>> from gadc.series import appnp
        >>> appnp(0.5, 2)
        [0.5, 0.25, 0.25]
    """
    theta = ppr(alpha, num_steps)
    theta[-1] = (1 - alpha) ** num_steps
    return theta


def sgc(num_steps: int) -> list[float]:
    """Return the coefficients of SGC, which keeps T^K alone.

    GADC under adaptive attacks uses them with K = 2, without the terms k = 0 and 1.

    Args:
        num_steps: Number of steps K >= 0 of the diffusion.

    Examples:
        >>> from gadc.series import sgc
        >>> sgc(2)
        [0.0, 0.0, 1.0]
    """
    return [0.0] * _check_steps("sgc", num_steps) + [1.0]


def ssgc(alpha: float, num_steps: int) -> list[float]:
    """Return the coefficients of S²GC, α X + (1-α)/K Σ_{k=1..K} T^k X.

    Args:
        alpha: Weight α in [0, 1] of the features themselves.
        num_steps: Number of steps K >= 1 of the diffusion.

    Examples:
        >>> from gadc.series import ssgc
        >>> ssgc(0.5, 2)
        [0.5, 0.25, 0.25]
    """
    alpha = check_share("ssgc", alpha, "alpha")
    num_steps = _check_steps("ssgc", num_steps, low=1)
    return [alpha] + [(1 - alpha) / num_steps] * num_steps


def heat(time: float, num_steps: int) -> list[float]:
    """Return the coefficients e^-t t^k / k! of the heat kernel, cut after `num_steps`.

    Args:
        time: Diffusion time t >= 0.
        num_steps: Number of steps K >= 0 of the diffusion.

    Examples:
        >>> from gadc.series import heat
        >>> heat(0.0, 2)
        [1.0, 0.0, 0.0]
    """
    time, num_steps = check_number("heat", time, "time"), _check_steps("heat", num_steps)
    if time > _LONG_TIME:
        logarithms = (k * math.log(time) - time - math.lgamma(k + 1) for k in range(num_steps + 1))
        return [math.exp(logarithm) for logarithm in logarithms]
    theta = [math.exp(-time)]
    for k in range(1, num_steps + 1):
        theta.append(theta[-1] * time / k)
    return theta


def _check_steps(owner: str, num_steps: int, *, low: int = 0) -> int:
    """A number of steps; the bound keeps a slip such as 10**9 from filling the memory."""
    return check_count(owner, num_steps, "num_steps", low=low, high=MAX_STEPS)
