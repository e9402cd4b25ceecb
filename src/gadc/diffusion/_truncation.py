"""A low-rank part of lower rank that gives the same polynomial to a stated error.

GADC (II) adds a term M = U Vᵀ of rank d, but on noisy features with heavy-tailed rows a few directions hold
nearly all of it. So M is replaced by Q (Qᵀ M Q) Qᵀ, with Q an orthonormal basis of its leading directions
(randomised range finder, Halko, Martinsson and Tropp, 2011), and the error is measured rather than bounded:
for a Gaussian matrix Ω with s columns

    E ‖(F - F_r) Ω‖_F² / s = ‖F - F_r‖_F²,

and F Ω = p(T) (X Ω) costs s columns instead of d. The estimated relative error must be half of the allowed
one. With s = 32 the true error then exceeds the allowed one with a probability of at most one in ten thousand
(an F tail, attained only if both F and F - F_r have rank 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from gadc._base.magnitude import norm_of
from gadc.diffusion._horner import horner
from gadc.operators import LinearOperator

_PROBES = 32
_SAFETY = 2.0


def truncated(
    operator: LinearOperator, x: Tensor, theta: Sequence[float], rtol: float
) -> tuple[LinearOperator, float]:
    """Spend half of the allowed error on a low-rank part of lower rank, where that pays.

    Args:
        operator: T, symmetric.
        x: X, shape (n, d).
        theta: Coefficients θ_0..θ_K.
        rtol: Allowed relative error in the Frobenius norm.

    Returns:
        The operator to use, and the error that may still be spent. Both are unchanged where there is no
        low-rank part, where it is needed whole, and where gradients are asked for.
    """
    if operator.left is None or operator.is_differentiated(x):
        return operator, rtol
    thin = lowest_rank(operator, x, theta, rtol / 2)
    return (operator, rtol) if thin is None else (thin, rtol / 2)


def lowest_rank(
    operator: LinearOperator, x: Tensor, theta: Sequence[float], rtol: float
) -> LinearOperator | None:
    """Return the operator of lowest rank that changes Σ_k θ_k T^k x by at most `rtol`.

    Args:
        operator: T, symmetric, with a low-rank part.
        x: X, shape (n, d).
        theta: Coefficients θ_0..θ_K.
        rtol: Allowed relative error in the Frobenius norm.

    Returns:
        The operator, or None where no rank that is several times lower keeps the error.
    """
    probes = x @ _gaussian((x.shape[1], _PROBES), 1, x)
    exact = horner(operator, probes, theta)
    if not torch.isfinite(exact.sum()):
        return None
    for rank in _ranks(operator):
        thin = compress(operator, rank)
        if norm_of(horner(thin, probes, theta) - exact) * _SAFETY <= rtol * norm_of(exact):
            return thin
    return None


def compress(operator: LinearOperator, rank: int, *, seed: int = 0) -> LinearOperator:
    """Cut the symmetric low-rank part of an operator to `rank`."""
    left, right = operator.left, operator.right
    if left is None or right is None:
        raise ValueError("compress: the operator must have a low-rank part, got none.")
    basis = _gaussian((len(left), rank), seed, left)
    for _ in range(2):  # M itself squares the singular values of X, so two passes are a sharp power iteration
        basis = torch.linalg.qr(left @ (right.T @ basis)).Q
    core = (basis.T @ left) @ (right.T @ basis) * operator.low_rank_scale
    return replace(operator, left=basis @ core, right=basis, bounds=None, low_rank_scale=1.0)


def _ranks(operator: LinearOperator) -> Iterator[int]:
    """Yield ranks that double from 32, while the product stays several times cheaper than at full rank."""
    rank, full = 32, 0 if operator.right is None else min(operator.right.shape)
    while rank <= full // 4:
        yield rank
        rank *= 2


def _gaussian(shape: tuple[int, int], seed: int, like: Tensor) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(like.device, like.dtype)
