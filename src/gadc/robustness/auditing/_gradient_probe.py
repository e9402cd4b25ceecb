"""Whether the gradient that attacks follow is the true one.

The scores of a defence that rounds, saturates or detaches change under flips, but their gradient does not
show it. Attacks that follow such a gradient look weak, and the defence looks strong.
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
    """The gradient of the loss in the edge weights, compared with the effect of a small step along it.

    Attributes:
        edges_matter: Whether the scores change if as many random pairs are flipped as there are edges.
        gradient_norm: Norm of the gradient; None if the scores pass no gradient.
        slope: Slope along the gradient by finite differences; 0 without a gradient.
        rounding_error: How far rounding alone can move `slope`.
    """

    edges_matter: bool
    gradient_norm: float | None
    slope: float = 0.0
    rounding_error: float = 0.0


def probe_gradient(scores: Scores, data: Data, nodes: Tensor, *, seed: int = 0) -> GradientProbe:
    """Compare the gradient of the cross-entropy of `nodes` with central differences along it.

    Args:
        scores: Function `(x, edge_index, edge_weight) -> scores of all nodes`.
        data: The clean graph, undirected.
        nodes: Nodes whose loss is differentiated.
        seed: Seed of the random flips, 0 by default.
    """
    weight = data.edge_weight
    weight = torch.ones(data.edge_index.shape[1]) if weight is None else weight.detach()
    weight = weight.to(data.x.dtype)

    def loss(weight: Tensor) -> Tensor:
        return cross_entropy(scores(data.x, data.edge_index, weight)[nodes], data.y[nodes])

    edges_matter = _edges_matter(scores, data, nodes, seed)
    start = weight.clone().requires_grad_()
    value = loss(start)
    gradient = torch.autograd.grad(value, start, allow_unused=True)[0] if value.requires_grad else None
    if gradient is None:
        return GradientProbe(edges_matter=edges_matter, gradient_norm=None)
    direction = torch.where(weight > 0, gradient, 0.0)  # a weight of 0 cannot decrease
    norm = float(direction.norm())
    if norm == 0:
        return GradientProbe(edges_matter=edges_matter, gradient_norm=0.0)
    direction = direction / norm
    step = _STEP * float(weight[weight > 0].min() / direction.abs().max())
    with torch.no_grad():
        rise = float(loss(weight + step * direction) - loss(weight - step * direction))
    return GradientProbe(
        edges_matter=edges_matter,
        gradient_norm=norm,
        slope=rise / (2 * step),
        rounding_error=_ROUNDING * max(abs(value.item()), 1.0) / step,
    )


@torch.no_grad()
def _edges_matter(scores: Scores, data: Data, nodes: Tensor, seed: int) -> bool:
    budget = len(encode_pairs(data.edge_index, None)[0])
    flipped = RandomFlips()(None, data, nodes=nodes, budget=budget, seed=seed).apply(data)
    before = scores(data.x, data.edge_index, data.edge_weight)
    after = scores(flipped.x, flipped.edge_index, flipped.edge_weight)
    return not torch.allclose(before[nodes], after[nodes])
