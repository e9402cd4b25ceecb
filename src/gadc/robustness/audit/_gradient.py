"""Whether the gradient that attacks follow is the true one.

A defence that rounds, saturates or detaches has scores that flips can change and a gradient that does not
say so. Attacks that trust it look weak, and the defence looks strong.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch_geometric.data import Data

from gadc._base.pairs import encode_pairs
from gadc.robustness.attacks import RandomFlips, Scores

_STEP = 0.1  # of the lightest edge's weight: long enough for float32, short enough for a slope
_ROUNDING = 1e-6  # relative error of a loss in float32


@dataclass(frozen=True, kw_only=True)
class GradientProbe:
    """The gradient of the loss in the weights of the edges, against what a small step along it does.

    Attributes:
        matters: Whether scores change at all when as many random pairs are flipped as there are edges.
        promised: Norm of the gradient; None if the scores pass none.
        found: Slope along it by finite differences; 0 where there is no gradient to go along.
        rounding: How far rounding alone can move `found`.
    """

    matters: bool
    promised: float | None
    found: float = 0.0
    rounding: float = 0.0


def probe_gradient(scores: Scores, data: Data, nodes: Tensor, *, seed: int = 0) -> GradientProbe:
    """Compare the gradient of the cross-entropy of `nodes` with central differences along it."""
    weight = data.edge_weight
    weight = torch.ones(data.edge_index.shape[1]) if weight is None else weight.detach()
    weight = weight.to(data.x.dtype)

    def loss(weight: Tensor) -> Tensor:
        return cross_entropy(scores(data.x, data.edge_index, weight)[nodes], data.y[nodes])

    matters = _matters(scores, data, nodes, seed)
    place = weight.clone().requires_grad_()
    value = loss(place)
    slope = torch.autograd.grad(value, place, allow_unused=True)[0] if value.requires_grad else None
    if slope is None:
        return GradientProbe(matters=matters, promised=None)
    direction = torch.where(weight > 0, slope, 0.0)  # what weighs nothing cannot weigh less
    promised = float(direction.norm())
    if promised == 0:
        return GradientProbe(matters=matters, promised=0.0)
    direction = direction / promised
    step = _STEP * float(weight[weight > 0].min() / direction.abs().max())
    with torch.no_grad():
        rise = float(loss(weight + step * direction) - loss(weight - step * direction))
    rounding = _ROUNDING * max(abs(value.item()), 1.0) / step
    return GradientProbe(matters=matters, promised=promised, found=rise / (2 * step), rounding=rounding)


@torch.no_grad()
def _matters(scores: Scores, data: Data, nodes: Tensor, seed: int) -> bool:
    budget = len(encode_pairs(data.edge_index, None)[0])
    flipped = RandomFlips()(None, data, nodes=nodes, budget=budget, seed=seed).apply(data)
    before = scores(data.x, data.edge_index, data.edge_weight)
    after = scores(flipped.x, flipped.edge_index, flipped.edge_weight)
    return not torch.allclose(before[nodes], after[nodes])
