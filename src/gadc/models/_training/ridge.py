"""Training in closed form: ridge regression on one-hot labels.

    W = (F_Lᵀ F_L + η I)⁻¹ F_Lᵀ Y_L,    scores = F W = H Y_L,    H = F F_Lᵀ (F_L F_Lᵀ + η I)⁻¹

F_L are the rows of the labelled nodes. Training is a few products and one solve, so scores are a
differentiable function of the features of all nodes, and of the graph that made them; and they are linear in
the labels.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from gadc._base.scalars import check_number


def ridge_targets(labels: Tensor, num_classes: int, dtype: torch.dtype) -> Tensor:
    """Return one-hot labels minus their mean over the classes, so that no class needs a bias."""
    return one_hot(labels, num_classes).to(dtype) - 1 / num_classes


def ridge_scores(known: Tensor, rows: Tensor, targets: Tensor, penalty: float) -> Tensor:
    """Train on the known rows and score all rows; differentiable in `known`, `rows` and `targets`.

    Args:
        known: Features F_L of the labelled nodes, shape (labelled, d).
        rows: Features of the nodes to score, shape (n, d).
        targets: Targets Y_L of the labelled nodes, shape (labelled, classes).
        penalty: Weight η > 0 of the squared norm of W.

    Returns:
        Scores, shape (n, classes).
    """
    check_number("ridge_scores", penalty, "penalty", strict=True)
    return rows @ ridge_weight(known, targets, penalty)


def ridge_weight(known: Tensor, targets: Tensor, penalty: float) -> Tensor:
    """Return W, shape (d, classes), by the smaller of the two solves."""
    if known.shape[0] > known.shape[1]:
        return _solve(known.T @ known, known.T @ targets, penalty)
    return known.T @ _solve(known @ known.T, targets, penalty)


def ridge_smoother(known: Tensor, rows: Tensor, penalty: float) -> Tensor:
    """Return H, shape (n, labelled): the scores of all rows are H @ targets, whatever the labels are."""
    check_number("ridge_smoother", penalty, "penalty", strict=True)
    if known.shape[0] > known.shape[1]:
        return rows @ _solve(known.T @ known, known.T, penalty)
    return _solve(known @ known.T, known @ rows.T, penalty).T


def kernel_scores(known: Tensor, rows: Tensor, targets: Tensor, penalty: float) -> Tensor:
    """Train and score as `ridge_scores` does, with the kernel exp(-‖a - b‖² / 2) in place of products.

    Rows should be of about unit length, since the kernel has no other width.
    """
    check_number("kernel_scores", penalty, "penalty", strict=True)
    weights = _solve(gaussian(known, known), targets, penalty)
    return gaussian(rows, known) @ weights


def gaussian(left: Tensor, right: Tensor) -> Tensor:
    """Return exp(-‖a - b‖² / 2) for the rows a of one matrix and b of another."""
    distances = left.square().sum(1, keepdim=True) + right.square().sum(1) - 2 * left @ right.T
    return (distances.clamp(min=0) / -2).exp()


def _solve(gram: Tensor, right: Tensor, penalty: float) -> Tensor:
    """Return (G + η I)⁻¹ B for a positive semidefinite G."""
    eye = torch.eye(len(gram), dtype=gram.dtype)
    factor = torch.linalg.cholesky(gram + penalty * eye)
    return torch.cholesky_solve(right, factor)
