"""The objectives of graph signal denoising, and the move of the adversary that harms most.

    GSD    ‖F-X‖² + λ tr(Fᵀ L̃ F)
    AGSD   max_{‖δ‖_F <= ε} ‖F-X‖² + λ tr(Fᵀ (L̃+δ) F)  =  ‖F-X‖² + λ tr(Fᵀ L̃ F) + λε ‖F Fᵀ‖_F

The maximum is attained at δ* = ε F Fᵀ / ‖F Fᵀ‖_F.
"""

from __future__ import annotations

from torch import Tensor

from gadc._base.magnitude import frobenius_norm, rescaled
from gadc._base.scalars import check_number
from gadc._base.validation import check_features, check_finite_result
from gadc.diffusion._similarity import gram_norm
from gadc.diffusion._transitions import Plain
from gadc.operators import LinearOperator, SparsePattern


def worst_perturbation(F: Tensor, eps: float) -> LinearOperator:
    """Build the perturbation of the Laplacian that harms F most, δ* = ε F Fᵀ / ‖F Fᵀ‖_F.

    Args:
        F: Features, shape (n, d), not all zero.
        eps: Radius ε >= 0 of the adversary.

    Returns:
        δ*, shape (n, n), as a low-rank operator; differentiable in `F`.

    Examples:
        >>> import torch
        >>> from gadc.theory import worst_perturbation
        >>> worst_perturbation(torch.ones(2, 1), eps=1.0).to_dense()
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """
    F = check_features("worst_perturbation", F, "F")
    eps = check_number("worst_perturbation", eps, "eps")
    n, F = F.shape[0], rescaled(F)[0]  # δ* does not depend on the unit of the features
    zero = LinearOperator(SparsePattern.empty(n, n, F.device), F.new_zeros(0), symmetric=True)
    scale = eps / gram_norm(F, owner="worst_perturbation")
    check_finite_result("worst_perturbation", scale, "δ*", "take a smaller eps or pass float64")
    return zero.add_low_rank(F, F, symmetric=True, bounds=(0.0, eps), scale=scale)


def gsd_objective(
    F: Tensor,
    x: Tensor,
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    lam: float,
    self_loops: float = 1.0,
) -> Tensor:
    """Compute the objective of graph signal denoising, ‖F-X‖² + λ tr(Fᵀ L̃ F).

    Args:
        F: Denoised features, shape (n, d).
        x: Given features X, shape (n, d).
        edge_index: Edges, shape (2, m).
        edge_weight: Weights >= 0, one per edge, shape (m,); 1 each by default.
        lam: Strength λ >= 0 of the smoothing.
        self_loops: Weight of the self-loops in Ã, 1 by default.

    Returns:
        The objective, a scalar tensor, differentiable in `F`, `x` and `edge_weight`.

    Examples:
        >>> import torch
        >>> from gadc.theory import gsd_objective
        >>> x, edges = torch.tensor([[0.0], [2.0]]), torch.tensor([[0], [1]])
        >>> gsd_objective(x, x, edges, lam=1.0)  # (2 - 0)² / 2
        tensor(2.)
    """
    return agsd_objective(F, x, edge_index, edge_weight, lam=lam, eps=0.0, self_loops=self_loops)


def agsd_objective(
    F: Tensor,
    x: Tensor,
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    *,
    lam: float,
    eps: float,
    self_loops: float = 1.0,
) -> Tensor:
    """Compute the objective of AGSD, q(F) = ‖F-X‖² + λ tr(Fᵀ L̃ F) + λε ‖F Fᵀ‖_F.

    Args:
        F: Denoised features, shape (n, d).
        x: Given features X, shape (n, d).
        edge_index: Edges, shape (2, m).
        edge_weight: Weights >= 0, one per edge, shape (m,); 1 each by default.
        lam: Strength λ >= 0 of the smoothing.
        eps: Radius ε >= 0 of the adversary.
        self_loops: Weight of the self-loops in Ã, 1 by default.

    Returns:
        The objective, a scalar tensor, differentiable in `F`, `x` and `edge_weight`.

    Examples:
        >>> import torch
        >>> from gadc.theory import agsd_objective
        >>> x, edges = torch.tensor([[0.0], [2.0]]), torch.tensor([[0], [1]])
        >>> agsd_objective(x, x, edges, lam=1.0, eps=0.5)  # 2 + 0.5 · 4
        tensor(4.)
    """
    x = check_features("agsd_objective", x)
    F = check_features("agsd_objective", F, "F").to(x.dtype)
    if F.shape != x.shape:
        raise ValueError(
            f"agsd_objective: F must have the shape of x, {tuple(x.shape)}, got {tuple(F.shape)}."
        )
    lam = check_number("agsd_objective", lam, "lam")
    eps = check_number("agsd_objective", eps, "eps")
    plain = Plain(self_loops=self_loops)(x, edge_index, edge_weight)
    smoothness = (F * (F - plain @ F)).sum()
    # tr(Fᵀ L̃ F) is not negative. If rounding makes it so, it counts as 0 and keeps its gradient.
    smoothness = smoothness - smoothness.detach().clamp(max=0.0)
    value = (F - x).square().sum() + lam * smoothness
    if eps:
        value = value + lam * eps * frobenius_norm(F.T @ F)
    return check_finite_result("agsd_objective", value, "the objective", "scale F and x or pass float64")
