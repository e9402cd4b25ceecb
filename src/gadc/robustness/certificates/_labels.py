"""Labels, poisoning, exact: how many training labels must be wrong to change a prediction.

    scores = H Y,   H = F F_Lᵀ (F_L F_Lᵀ + η I)⁻¹        (ridge regression, see `gadc.models._training.ridge`)

The scores are linear in the labels. For a node t with class a and a competitor c, changing label i lowers the
margin (H Y)_ta - (H Y)_tc by at most

    H_ti (1 + [y_i = a] - [y_i = c])      for H_ti >= 0,
   -H_ti (1 + [y_i = c] - [y_i = a])      for H_ti < 0.

These losses do not depend on one another, so the most harmful r labels are the r with the largest losses.
"""

from __future__ import annotations

import time

import torch
from torch import Tensor

from gadc._base.validation import check_features
from gadc.models._training.ridge import ridge_smoother, ridge_targets
from gadc.robustness.certificates._certificate import Certificate, radii_from_losses
from gadc.robustness.certificates._nodes import Tested, margins_over
from gadc.robustness.certificates._pieces import Pieces

THREAT = "training labels, poisoning; the budget is the number of training nodes with a wrong label"


def certify_labels(
    features: Tensor,
    y: Tensor,
    train_nodes: Tensor,
    nodes: Tensor,
    *,
    penalty: float = 1.0,
    pieces: Pieces | None = None,
) -> Certificate:
    """Certify a ridge head against wrong training labels.

    The attacker changes the labels of some training nodes to any other classes before the head is trained.
    The radius of a node is the number of labels that can be changed without changing its prediction.

    Args:
        features: Features F that the head is trained on, for example diffused ones, shape (n, d). They must
            not depend on labels.
        y: Labels, shape (n,).
        train_nodes: Numbers of the training nodes.
        nodes: Numbers of the nodes to certify.
        penalty: Weight η > 0 of the squared norm of the head, 1 by default.
        pieces: Where finished pieces are looked up and kept, from `PieceStore.pieces`; nowhere by default.

    Returns:
        An exact certificate: the radius holds, and one more wrong label can change the prediction.

    Examples:
        >>> import torch
        >>> from gadc.robustness.certificates import certify_labels
        >>> x = torch.tensor([[1.0], [1.0], [1.0], [-1.0], [-1.0], [-1.0]])
        >>> y = torch.tensor([0, 0, 0, 1, 1, 1])
        >>> certify_labels(x, y, torch.tensor([0, 1, 3, 4]), torch.tensor([2, 5])).radii.tolist()
        [1, 1]
    """
    begin = time.perf_counter()
    pieces = Pieces() if pieces is None else pieces
    tested = Tested.of("certify_labels", nodes, y)
    features = check_features("certify_labels", features, "features").double()
    known = y[train_nodes]
    num_classes = int(y.max()) + 1
    smoother = ridge_smoother(features[train_nodes], features[tested.nodes], penalty)
    scores = smoother @ ridge_targets(known, num_classes, smoother.dtype)
    predicted = scores.argmax(1)
    radii = pieces.recall("radii", lambda: _radii(smoother, known, scores, predicted))
    return tested.certificate(
        threat=THREAT,
        kind="exact",
        predicted=predicted,
        radii=torch.tensor(radii),
        seconds=time.perf_counter() - begin + pieces.saved,
    )


def _radii(smoother: Tensor, known: Tensor, scores: Tensor, predicted: Tensor) -> Tensor:
    """Return the smallest radius of each node over all competitors of its class."""
    radii = torch.full((len(predicted),), len(known))
    for other in range(scores.shape[1]):
        rival = predicted != other
        margin = margins_over(scores, predicted, other)[rival]
        losses = _losses(smoother[rival], known, predicted[rival], other)
        radii[rival] = torch.minimum(radii[rival], radii_from_losses(margin, losses))
    return radii


def _losses(smoother: Tensor, known: Tensor, predicted: Tensor, other: int) -> Tensor:
    """Return what changing each label takes from the margin between `predicted` and `other` at most."""
    same = (known.unsqueeze(0) == predicted.unsqueeze(1)).to(smoother.dtype)
    rival = (known == other).to(smoother.dtype).unsqueeze(0)
    return smoother.clamp(min=0) * (1 + same - rival) + (-smoother).clamp(min=0) * (1 + rival - same)
