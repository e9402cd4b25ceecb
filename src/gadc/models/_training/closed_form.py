"""Diffusion, training and prediction as one differentiable function, by a ridge head.

    F = S(A) X V,    scores = F (F_Lᵀ F_L + η I)⁻¹ F_Lᵀ Y_L

V are the leading right singular vectors of X, so that F is narrow; no edge moves them.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.scalars import check_count, check_number
from gadc.models._training.ridge import ridge_scores, ridge_targets

_TINY = 1e-12  # keeps η above 0 if all diffused features are 0


def closed_form_scores(
    data: Data,
    features: Tensor,
    diffusion: Callable[[Tensor, Tensor | None], Callable[[Tensor], Tensor]],
    *,
    rank: int = 128,
    penalty: float = 0.01,
) -> Callable[..., Tensor]:
    """Return the function `(x, edge_index, edge_weight=None) -> scores of all nodes`; it does not use `x`.

    Args:
        data: The graph, whose labels and `train_mask` are used.
        features: Features X as the model diffuses them, shape (n, d).
        diffusion: Function `(edge_index, edge_weight) -> S` that returns the linear map S of columns.
        rank: Largest number of columns of X V, 128 by default.
        penalty: Weight η > 0 relative to the squared norm of F_L, 0.01 by default.
    """
    check_count("closed_form_scores", rank, "rank", low=1)
    check_number("closed_form_scores", penalty, "penalty", strict=True)
    known = torch.nonzero(data.train_mask & (data.y >= 0)).flatten()
    if not len(known):
        raise ValueError("closed_form_scores: train_mask must name at least one node with a label, got none.")
    narrow = _narrow(features.detach(), rank)
    targets = ridge_targets(data.y[known], int(data.y.max()) + 1, narrow.dtype)

    def scores(x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        rows = diffusion(edge_index, edge_weight)(narrow)
        size = float(rows[known].detach().square().sum())
        return ridge_scores(rows[known], rows, targets, penalty * max(size, _TINY))

    return scores


def _narrow(x: Tensor, rank: int) -> Tensor:
    """Return X V with at most `rank` columns."""
    if x.shape[1] <= rank:
        return x
    _, vectors = torch.linalg.eigh((x.T @ x).double())
    narrow: Tensor = (x.double() @ vectors[:, -rank:]).to(x.dtype)
    return narrow
