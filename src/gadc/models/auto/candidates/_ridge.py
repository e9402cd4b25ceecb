"""The cheap head that ranks candidates: ridge regression on one-hot labels, solved by its Gram matrix.

One Gram matrix of the labelled rows serves every split and every penalty, so a candidate costs milliseconds.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from gadc.models.auto._splits import Split

_PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)  # relative to the mean square of a row


def ridge_outcome(features: Tensor, labels: Tensor, splits: list[Split]) -> tuple[float, float] | None:
    """Return accuracy (in percent) and mean squared error on validation nodes; None if that fails.

    The penalty is the one of the highest accuracy and, among equal accuracies, of the lowest error.

    Args:
        features: Features of the labelled nodes, shape (labelled, d).
        labels: Classes of the labelled nodes, shape (labelled,).
        splits: Splits of equal sizes, which number the rows of `features`.
    """
    scale = torch.linalg.vector_norm(features, dim=1).median()
    if not bool(torch.isfinite(features).all()) or not bool(torch.isfinite(scale)):
        return None
    features = features / scale if bool(scale > 0) else features
    gram = (features @ features.T).double() + 1.0  # the 1 is a bias
    try:
        accuracies, errors = _outcomes(gram, labels, splits)
    except torch.linalg.LinAlgError:  # type: ignore[attr-defined]
        return None  # features of magnitudes that double precision cannot hold together
    return max(zip(accuracies.tolist(), errors.tolist(), strict=True), key=lambda pair: (pair[0], -pair[1]))


def _outcomes(gram: Tensor, labels: Tensor, splits: list[Split]) -> tuple[Tensor, Tensor]:
    """Return accuracy and error for each penalty; all splits are solved at once."""
    targets = one_hot(labels).double()
    train = torch.stack([one.train for one in splits])
    validation = torch.stack([one.validation for one in splits])
    inner = gram[train[:, :, None], train[:, None, :]]
    mean = inner.diagonal(dim1=1, dim2=2).mean(1)
    penalties = torch.tensor(_PENALTIES, dtype=gram.dtype)[:, None] * mean  # (penalties, splits)
    eye = torch.eye(inner.shape[1], dtype=gram.dtype)
    factor = torch.linalg.cholesky(inner + penalties[:, :, None, None] * eye)
    weights = torch.cholesky_solve(targets[train].expand(len(_PENALTIES), -1, -1, -1), factor)
    scores = gram[validation[:, :, None], train[:, None, :]] @ weights
    correct = (scores.argmax(3) == labels[validation]).double()
    return 100.0 * correct.mean((1, 2)), (scores - targets[validation]).square().sum(3).mean((1, 2))
