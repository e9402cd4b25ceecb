"""A polynomial of GADC (II) by plain hops alone, with small matrices in between.

    T = Â + s U Uᵀ,    U = X B,    B an orthonormal basis (d × r) of leading directions of the features
    G_j = Uᵀ Â^j U,    P_k = s (G_k + Σ_{j<k} G_{k-1-j} P_j),    Q_i = Σ_j θ_{i+1+j} P_j        (all r × r)
    Σ_k θ_k T^k X ≈ Σ_k θ_k Â^k X + (Σ_i Â^i U Q_i) Bᵀ

The first pass finds G_j, by symmetry from half of the hops (G_{i+j} = (Â^i U)ᵀ Â^j U), the second is Horner's
rule. Both take r columns; the d columns of X pass through plain hops only. With r = d this is exact. It then
takes as many n × d × d products as the direct sum, so it pays for r well below d, which needs a stated error.
The error is measured as in `_truncation`, on 32 random combinations of the columns. Small matrices are in
float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from gadc._base.magnitude import norm_of
from gadc.diffusion._chebyshev import chebyshev
from gadc.diffusion._horner import horner
from gadc.diffusion._truncation import SAFETY, gaussian, probes_of
from gadc.operators import LinearOperator

_FIRST_RANK = 32


def two_pass(operator: LinearOperator, x: Tensor, theta: Sequence[float], rtol: float) -> Tensor | None:
    """Evaluate Σ_k θ_k T^k x to a stated error, where plain hops and small matrices cost less.

    Args:
        operator: T, symmetric.
        x: X, shape (n, d), contiguous.
        theta: Coefficients θ_0..θ_K.
        rtol: Allowed relative error in the Frobenius norm.

    Returns:
        The sum, shape (n, d); None for operators other than GADC (II) of these features, where gradients are
        asked for, and where no rank both pays and keeps the error.
    """
    if operator.left is not x or operator.right is not x or operator.is_differentiated(x):
        return None
    plain = sparse_part(operator)
    probes, mixture = probes_of(x)
    exact = horner(operator, probes, theta)
    smooth = horner(plain, probes, theta)
    size = norm_of(exact)
    if not torch.isfinite(exact.sum() + smooth.sum()):
        return None
    rank = _FIRST_RANK
    while 2 * rank <= min(x.shape) and pays(operator, x, len(theta) - 1, rank):
        basis = leading_directions(x, rank)
        rest = correction(plain, x @ basis, theta, float(operator.low_rank_scale))
        if norm_of(smooth + rest @ (basis.T @ mixture) - exact) * SAFETY <= rtol / 2 * size:
            # The correction cancels a part of the plain sum, so that sum has to be the more precise.
            allowed = rtol / 2 / SAFETY * min(size / max(norm_of(smooth), 1e-300), 1.0)
            out = chebyshev(plain, x, theta, allowed)
            out = horner(plain, x, theta) if out is None else out
            return out.addmm_(rest, basis.T)
        rank *= 2
    return None


def sparse_part(operator: LinearOperator) -> LinearOperator:
    """Return T without its low-rank part, with the bounds that are known of it."""
    return replace(
        operator, left=None, right=None, low_rank_scale=1.0, bounds=operator.sparse_bounds, sparse_bounds=None
    )


def pays(operator: LinearOperator, x: Tensor, num_steps: int, rank: int) -> bool:
    """Return whether two passes take fewer operations than a low-rank product in every step."""
    (n, d), entries = x.shape, operator.pattern.nnz
    each_step = num_steps * 2 * n * rank * d
    hops = num_steps * 3 * rank * (entries + n) // 2
    small = num_steps**2 * rank**3  # half as many products, in double precision
    return 2 * num_steps * n * rank**2 + hops + small + n * rank * d < each_step


def correction(plain: LinearOperator, columns: Tensor, theta: Sequence[float], scale: float) -> Tensor:
    """Compute Σ_i Â^i U Q_i.

    Args:
        plain: Â, symmetric.
        columns: U, shape (n, r), contiguous.
        theta: Coefficients θ_0..θ_K with K >= 1.
        scale: s of T = Â + s U Uᵀ.

    Returns:
        The sum, shape (n, r).
    """
    num_steps = len(theta) - 1
    factors = _coefficients(_moments(plain, columns, num_steps), theta, scale)
    out = columns @ factors[-1].to(columns.dtype)
    for factor in reversed(factors[:-1]):
        out = plain.apply(out).addmm_(columns, factor.to(columns.dtype))
    return out


def _moments(plain: LinearOperator, columns: Tensor, count: int) -> list[Tensor]:
    """Return Uᵀ Â^j U for j < count, in float64, from half as many hops."""
    found, before = [columns.T @ columns], columns
    while len(found) < count:
        now = plain.apply(before)
        found += [before.T @ now, now.T @ now]
        before = now
    return [one.double() for one in found[:count]]


def _coefficients(moments: Sequence[Tensor], theta: Sequence[float], scale: float) -> list[Tensor]:
    """Return Q_0..Q_{K-1}."""
    powers: list[Tensor] = []
    for k, moment in enumerate(moments):
        total = moment.clone()
        for j, power in enumerate(powers):
            total.addmm_(moments[k - 1 - j], power)
        powers.append(total.mul_(scale))
    steps = len(moments)
    zero = torch.zeros_like(moments[0])
    return [sum((theta[i + 1 + j] * powers[j] for j in range(steps - i)), zero) for i in range(steps)]


def leading_directions(x: Tensor, rank: int, *, seed: int = 0) -> Tensor:
    """Return an orthonormal basis (d, rank) of directions that hold most of X (randomised range finder)."""
    basis = gaussian((x.shape[1], rank), seed, x)
    for _ in range(2):
        basis = torch.linalg.qr(x.T @ (x @ basis)).Q
    return basis.contiguous()
