"""One pass over the graph for a whole grid of (λ, K), and of ε where the mathematics allows.

    F(λ, K) = 1/(λ+1) Σ_{k=0..K} (λ/(λ+1))^k T^k X

The powers T^k X depend on neither λ nor K, so one sequence of products serves them all. In GADC (II) even ε
is shared: with the moments M_i = Xᵀ Â^i X and c = ‖X Xᵀ‖_F,

    T^k X = Σ_{i=0..k} Â^i X B_{k-i},    B_0 = I,  B_{k+1} = -(ε/c) Σ_{i=0..k} M_i B_{k-i},

so one pass over the graph gives the powers of Â, and each ε costs products of d × d matrices. Sums are
computed at the rows that are needed only, those with labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from gadc.diffusion import neumann
from gadc.diffusion._similarity import gram_norm
from gadc.diffusion._truncation import compress, lowest_rank
from gadc.operators import LinearOperator

Grid = Sequence[tuple[float, int]]
Sums = dict[tuple[float, int], Tensor]


@torch.no_grad()
def sweep(operator: LinearOperator, x: Tensor, grid: Grid, rows: Tensor) -> Sums:
    """Compute F(λ, K) at `rows` for every (λ, K) of the grid, with as many products as the largest K.

    Args:
        operator: T.
        x: Features X, shape (n, d).
        grid: Pairs (λ, K).
        rows: Numbers of the rows to compute.
    """
    return _sums(_powers(operator, x, _longest(grid), rows), grid)


@torch.no_grad()
def sweep_gram(
    plain: LinearOperator, x: Tensor, radii: Sequence[float], grid: Grid, rows: Tensor
) -> dict[float, Sums]:
    """Compute F(λ, K) of GADC (II) at `rows` for every ε of `radii`, with one pass over the graph for all.

    Args:
        plain: Â.
        x: Features X, shape (n, d); d should be small, see `moments_pay`.
        radii: The values of ε.
        grid: Pairs (λ, K).
        rows: Numbers of the rows to compute.
    """
    kept, moments, power = [x[rows]], [], x
    for _ in range(_longest(grid)):
        moments.append(x.T @ power)
        power = plain @ power
        kept.append(power[rows])
    norm = float(gram_norm(x, owner="sweep_gram"))
    return {eps: _sums(_powers_from_moments(kept, moments, eps / norm), grid) for eps in radii}


def moments_pay(num_nodes: int, num_features: int, num_steps: int, num_radii: int) -> bool:
    """Whether the moments need fewer operations than a sequence of products for each ε."""
    moments = 2 * num_nodes * num_steps + num_radii * num_features * num_steps**2
    return moments < num_radii * 4 * num_nodes * num_steps


@torch.no_grad()
def lower_rank_gram(operator: LinearOperator, x: Tensor, num_steps: int, rtol: float) -> LinearOperator:
    """Return T of GADC (II) with a low-rank part of lower rank, for comparing candidates.

    Args:
        operator: T.
        x: Features X, shape (n, d).
        num_steps: The largest K of the comparison.
        rtol: Relative change of the sum that is allowed; if no lower rank meets it, a quarter of the rank
            is used all the same.
    """
    if operator.left is None:
        raise ValueError("lower_rank_gram: operator must have a low-rank part, got none.")
    theta = neumann(float(num_steps), num_steps)
    found = lowest_rank(operator, x, theta, rtol)
    return compress(operator, max(1, min(operator.left.shape) // 4)) if found is None else found


def _longest(grid: Grid) -> int:
    return max(steps for _, steps in grid)


def _powers(operator: LinearOperator, x: Tensor, count: int, rows: Tensor) -> Iterator[Tensor]:
    """Yield T^k X at the rows for k = 0..count."""
    yield x[rows]
    for _ in range(count):
        x = operator @ x
        yield x[rows]


def _powers_from_moments(kept: list[Tensor], moments: list[Tensor], scale: float) -> Iterator[Tensor]:
    """Yield the same for T = Â - scale · X Xᵀ, from the powers of Â at the rows."""
    yield kept[0]
    # Stacked, so that a step is one product of large matrices: [M_0 .. M_k] and [B_k; ..; B_0].
    width = kept[0].shape[1]
    powers, beside = torch.cat(kept, 1), torch.cat([*moments, kept[0][:0].T], 1)
    below = torch.eye(width, dtype=powers.dtype, device=powers.device)
    for k in range(1, len(kept)):
        below = torch.cat([-scale * (beside[:, : k * width] @ below), below])
        yield powers[:, : (k + 1) * width] @ below


def _sums(powers: Iterator[Tensor], grid: Grid) -> Sums:
    """Compute Σ θ_k T^k X as a running sum for each λ."""
    wanted = set(grid)
    theta = {lam: neumann(lam, _longest(grid)) for lam, _ in grid}
    running: dict[float, Tensor] = {}
    found: Sums = {}
    for k, power in enumerate(powers):
        for lam, weights in theta.items():
            running[lam] = running[lam] + weights[k] * power if k else weights[0] * power
            if (lam, k) in wanted:
                found[lam, k] = running[lam]
    return found
