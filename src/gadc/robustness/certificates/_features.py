"""Features, evasion, exact: how many nodes must have false features to change a prediction.

    scores = S X Wᵀ + b,   S independent of X

For a node t with class a and a competitor c let w = W_a - W_c. Changing the features of node j by a vector δ
changes the margin by S_tj w·δ, so it lowers it by at most

    l2        |S_tj| e ‖w‖                                                for ‖δ‖ <= e,
    flips     |S_tj| · (sum of the k largest gains of entries of x_j)     for at most k flipped entries,

where flipping entry f gains -sign(S_tj) (1 - 2 x_jf) w_f, if this is above 0. Nodes do not depend on one
another, so the most harmful r nodes are the r with the largest losses.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from gadc._base.scalars import check_choice, check_count, check_number
from gadc._base.validation import check_features
from gadc.robustness.attacks._features import is_binary
from gadc.robustness.certificates._certificate import Certificate, radii_from_losses
from gadc.robustness.certificates._nodes import Tested, margins_over
from gadc.robustness.certificates._pieces import Pieces

NORMS = ("l2", "flips")


def certify_features(
    influence: Tensor,
    x: Tensor,
    weight: Tensor,
    y: Tensor,
    nodes: Tensor,
    *,
    bias: Tensor | None = None,
    norm: str = "l2",
    size: float = 1.0,
    progress: Callable[[str], None] | None = None,
    pieces: Pieces | None = None,
) -> Certificate:
    """Certify a linear model on diffused features against false features of some nodes.

    The attacker chooses the nodes whose features are changed. The trained model stays as it is. The radius of
    a node is the number of nodes whose features can be changed without changing its prediction.

    Args:
        influence: Rows of S for the certified nodes, shape (k, n). S must not depend on features.
        x: Features X that are diffused, shape (n, d).
        weight: Weights W of the linear head, shape (classes, d).
        y: Labels, shape (n,).
        nodes: Numbers of the nodes to certify, k of them.
        bias: Bias b of the head, shape (classes,), multiplied by nothing; none by default.
        norm: "l2" (default): the features of a node move by at most `size` in the Euclidean norm. "flips": at
            most `size` entries of a binary row are flipped.
        size: Size of the change at each node, 1 by default.
        progress: Function that is called with a description of each class when it begins.
        pieces: Where finished pieces are looked up and kept, from `PieceStore.pieces`; nowhere by default.

    Returns:
        An exact certificate.

    Examples:
        >>> import torch
        >>> from gadc.robustness.certificates import certify_features
        >>> x, weight = torch.eye(2), torch.eye(2)
        >>> influence = torch.tensor([[0.6, 0.4], [0.4, 0.6]])
        >>> y = torch.tensor([0, 1])
        >>> certify_features(influence, x, weight, y, torch.tensor([0, 1]), size=0.1).radii.tolist()
        [2, 2]
        >>> certify_features(influence, x, weight, y, torch.tensor([0, 1]), norm="flips").radii.tolist()
        [0, 0]
    """
    begin = time.perf_counter()
    pieces = Pieces() if pieces is None else pieces
    check_choice("certify_features", norm, "norm", NORMS)
    tested = Tested.of("certify_features", nodes, y)
    x = check_features("certify_features", x).double()
    if norm == "flips":
        check_count("certify_features", size, "size", low=1)  # type: ignore[arg-type]
        if not is_binary(x):
            raise ValueError('certify_features: norm "flips" requires x to hold only 0 and 1; use "l2".')
    check_number("certify_features", size, "size", strict=True)
    influence, weight = influence.double(), weight.double()
    scores = influence @ (x @ weight.T) + (0 if bias is None else bias.double())
    predicted = scores.argmax(1)
    radii = torch.full((len(tested.nodes),), influence.shape[1])

    def radii_of(one: int, rows: Tensor) -> Tensor:
        found = torch.full((len(rows),), influence.shape[1])
        for other in set(range(len(weight))) - {one}:
            margin = margins_over(scores[rows], predicted[rows], other)
            losses = _losses(influence[rows], x, weight[one] - weight[other], norm, size)
            found = torch.minimum(found, radii_from_losses(margin, losses))
        return found

    for one in torch.unique(predicted).tolist():
        if progress is not None:
            progress(f"class {one + 1} of {len(weight)}")
        rows = torch.nonzero(predicted == one).flatten()
        compute = partial(radii_of, one, rows)
        radii[rows] = torch.tensor(pieces.recall(f"class {one}", compute))
    what = f"{size:g} flipped entries" if norm == "flips" else f"a distance of {size:g}"
    return tested.certificate(
        threat=f"features, evasion, up to {what} per node; the budget is the number of changed nodes",
        kind="exact",
        predicted=predicted,
        radii=radii,
        seconds=time.perf_counter() - begin + pieces.saved,
    )


def _losses(influence: Tensor, x: Tensor, direction: Tensor, norm: str, size: float) -> Tensor:
    """Return what each node can take from the margin at most, shape (rows of `influence`, n)."""
    if norm == "l2":
        return influence.abs() * (size * float(direction.norm()))
    slope = (1 - 2 * x) * direction  # how flipping an entry changes the margin, times S_tj
    most = min(int(size), x.shape[1])
    lowered = (-slope).clamp(min=0).topk(most, dim=1).values.sum(1)
    raised = slope.clamp(min=0).topk(most, dim=1).values.sum(1)
    return influence.clamp(min=0) * lowered + (-influence).clamp(min=0) * raised
