"""Heads that are trained in closed form: ridge regression on one-hot labels, linear or with a kernel.

    W = (F_Lᵀ F_L + η I)⁻¹ F_Lᵀ Y_L,    scores = F W = H Y_L,    H = F F_Lᵀ (F_L F_Lᵀ + η I)⁻¹

F_L are the rows of the labelled nodes. Training is a few products and one solve, so scores are a
differentiable function of the features of all nodes, and of the graph that made them; and they are linear in
the labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import one_hot
from torch_geometric.data import Data

from gadc._base.scalars import check_number
from gadc.models._training.loop import accuracy

PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


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


HEADS = {"linear": ridge_scores, "gaussian": kernel_scores}


@dataclass(frozen=True, eq=False)
class Head:
    """A head that was trained in closed form.

    Attributes:
        known: Rows of the training nodes, of unit size on average.
        size: Root of the mean squared norm that rows are divided by.
        targets: Targets of the training nodes.
        penalty: Weight of the penalty, relative to the mean squared norm.
        kind: A name in `HEADS`.
    """

    known: Tensor
    size: Tensor
    targets: Tensor
    penalty: float
    kind: str

    def __call__(self, rows: Tensor) -> Tensor:
        """Score rows; differentiable in these and in the rows of the training nodes."""
        return HEADS[self.kind](self.known, rows / self.size, self.targets, self.penalty)

    def weight(self) -> Tensor:
        """Return W of a linear head, which scores rows by `rows @ W`."""
        if self.kind != "linear":
            raise ValueError(f'Head: kind must be "linear" for a head with weights, got {self.kind!r}.')
        return ridge_weight(self.known, self.targets, self.penalty) / self.size


def train_head(rows: Tensor, data: Data, *, penalty: float | None = None, kind: str = "linear") -> Head:
    """Train a head on the rows of the training nodes.

    Args:
        rows: One row per node of `data`, shape (n, r).
        data: Labels and masks.
        penalty: Weight of the penalty, relative to the mean squared norm of the rows; None, the default,
            takes the one of `PENALTIES` with the highest accuracy on the validation nodes.
        kind: "linear" (default) or "gaussian".
    """
    known = rows[data.train_mask]
    mean = known.square().sum(1).mean()
    size = torch.where(mean > 0, mean, torch.ones_like(mean)).sqrt()
    targets = ridge_targets(data.y[data.train_mask], int(data.y.max()) + 1, rows.dtype)
    if penalty is None:
        with torch.no_grad():
            penalty = _best_penalty(Head(known / size, size, targets, 1.0, kind), rows, data)
    return Head(known / size, size, targets, penalty, kind)


def _best_penalty(head: Head, rows: Tensor, data: Data) -> float:
    val, labels = rows[data.val_mask], data.y[data.val_mask]
    if not len(labels):
        return 1.0
    heads = [Head(head.known, head.size, head.targets, one, head.kind) for one in PENALTIES]
    found = [accuracy(one(val), labels) for one in heads]
    return PENALTIES[found.index(max(found))]


def _solve(gram: Tensor, right: Tensor, penalty: float) -> Tensor:
    """Return (G + η I)⁻¹ B for a positive semidefinite G."""
    eye = torch.eye(len(gram), dtype=gram.dtype)
    factor = torch.linalg.cholesky(gram + penalty * eye)
    return torch.cholesky_solve(right, factor)
