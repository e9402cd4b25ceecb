"""What the features alone say about each node, without the node's own label."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot

_FOLDS = 5
_PENALTY = 0.1  # relative to the mean square of a row


@torch.no_grad()
def cross_fitted_beliefs(rows: Tensor, y: Tensor, labelled: Tensor, num_classes: int, seed: int) -> Tensor:
    """Return probabilities by ridge regression on features; a labelled node is judged by the other folds.

    An unlabelled node is judged by one of these models as well, drawn at random: an average of all would be
    surer, and the two kinds of nodes could not be compared.

    Args:
        rows: Features, shape (n, d).
        y: Class of each node, read at labelled nodes only.
        labelled: Numbers of the labelled nodes.
        num_classes: Number of classes.
        seed: Seed of the folds.
    """
    rows = rows / torch.linalg.vector_norm(rows, dim=1, keepdim=True).clamp(min=1e-12)
    order = labelled[torch.randperm(len(labelled), generator=torch.Generator().manual_seed(seed))]
    folds = [part for part in order.tensor_split(min(_FOLDS, len(order))) if len(part)]
    judge = torch.randint(len(folds), (len(rows),), generator=torch.Generator().manual_seed(seed))
    for number, fold in enumerate(folds):
        judge[fold] = number
    beliefs = torch.zeros((len(rows), num_classes), dtype=rows.dtype)
    for number, fold in enumerate(folds):
        kept = order[~torch.isin(order, fold)] if len(folds) > 1 else order
        judged = judge == number
        beliefs[judged] = _ridge(rows, kept, y, num_classes)[judged]
    positive: Tensor = beliefs.clamp(min=1e-6)
    return positive / positive.sum(1, keepdim=True)


def _ridge(rows: Tensor, train: Tensor, y: Tensor, num_classes: int) -> Tensor:
    """Fit one-hot labels at `train` and return the scores of all rows."""
    inputs, targets = rows[train].double(), one_hot(y[train], num_classes).double()
    centre = targets.mean(0)
    gram = inputs.T @ inputs  # few columns, many rows
    penalty = _PENALTY * float(inputs.square().sum(1).mean().clamp(min=1e-12)) + 1e-9
    gram.diagonal().add_(penalty)
    weights = torch.linalg.solve(gram, inputs.T @ (targets - centre))
    scores: Tensor = rows.double() @ weights + centre
    return scores.to(rows.dtype)
