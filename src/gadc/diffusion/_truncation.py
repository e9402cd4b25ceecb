"""A thinner low-rank part that gives the same polynomial to a stated error.

GADC (II) adds a term M = U Vᵀ of rank d, but on noisy features with heavy-tailed rows a few directions hold
nearly all of it. So M is replaced by Q (Qᵀ M Q) Qᵀ, with Q an orthonormal basis of its leading directions
(randomised range finder, Halko, Martinsson and Tropp, 2011), and the error is measured rather than bounded:
for a Gaussian matrix Ω with s columns

    E ‖(F - F_r) Ω‖_F² / s = ‖F - F_r‖_F²,

and F Ω = p(T) (X Ω) costs s columns instead of d. The estimated relative error must be half of what is
allowed. With s = 32 it is then truly more than allowed with a probability of at most one in ten thousand (an
F tail, attained only if both F and F - F_r have rank 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from gadc.operators import LinearOperator

_PROBES = 32
_SAFETY = 2.0


def compress(operator: LinearOperator, rank: int, *, seed: int = 0) -> LinearOperator:
    """The operator with its symmetric low-rank part cut to `rank`."""
    left, right = operator.left, operator.right
    if left is None or right is None:
        raise ValueError("compress: the operator has no low-rank part.")
    basis = _gaussian((len(left), rank), seed, left)
    for _ in range(2):  # M itself squares the singular values of X, so two passes are a sharp power iteration
        basis = torch.linalg.qr(left @ (right.T @ basis)).Q
    core = (basis.T @ left) @ (right.T @ basis)
    return replace(operator, left=basis @ core, right=basis, bounds=None)


def thinnest(
    operator: LinearOperator, x: Tensor, evaluate: Callable[[LinearOperator, Tensor], Tensor], rtol: float
) -> LinearOperator | None:
    """The thinnest operator that is worth it and changes `evaluate(operator, x)` by at most `rtol`, or None.

    Args:
        operator: T, symmetric with a low-rank part.
        x: What the polynomial is applied to, shape (n, d).
        evaluate: The polynomial `(operator, columns) -> columns`, linear in the columns.
        rtol: Allowed relative error in the Frobenius norm.
    """
    probes = x @ _gaussian((x.shape[1], _PROBES), 1, x)
    exact = evaluate(operator, probes)
    for rank in _ranks(operator):
        thin = compress(operator, rank)
        if (evaluate(thin, probes) - exact).norm() * _SAFETY <= rtol * exact.norm():
            return thin
    return None


def _ranks(operator: LinearOperator) -> Iterator[int]:
    """Doubling from 32, as long as the thin form is several times cheaper than the full one."""
    rank, full = 32, 0 if operator.right is None else min(operator.right.shape)
    while rank <= full // 4:
        yield rank
        rank *= 2


def _gaussian(shape: tuple[int, int], seed: int, like: Tensor) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(like.device, like.dtype)
