"""Staying within a budget: the projection of relaxed flips, and the choice of discrete flips."""

from __future__ import annotations

import torch
from torch import Tensor

ROUNDING = 1e-9
BISECTIONS = 50  # doubles have 53 bits


def project(values: Tensor, budget: float, costs: Tensor | None = None) -> Tensor:
    """Project onto {0 <= p <= 1, Σ c p <= budget}: clamp(values - μ c, 0, 1) with the smallest μ >= 0.

    Bisection (Xu et al., "Topology Attack and Defense for Graph Neural Networks", IJCAI 2019) finds the
    entries strictly between 0 and 1. For these the cost is linear in μ, so that one last step meets the
    budget up to rounding.

    Args:
        values: Any numbers, shape (k,).
        budget: Largest Σ c p, >= 0.
        costs: Costs c > 0, shape (k,); all 1 by default.
    """
    positive = torch.nonzero(values > 0).squeeze(1)
    inside = values[positive].double()
    weights = torch.ones_like(inside) if costs is None else costs[positive].double()
    if float((weights * inside.clamp(max=1)).sum()) <= budget:
        return values.clamp(0, 1)
    low, high = 0.0, float((inside / weights).max())
    active, active_weights = inside, weights
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if _spent(active, active_weights, middle) > budget:
            low = middle
            alive = active > low * active_weights  # the other entries stay 0 for every larger μ
            active, active_weights = active[alive], active_weights[alive]
        else:
            high = middle
    left = active - high * active_weights
    slope = float(active_weights[(left > 0) & (left < 1)].square().sum())
    spare = budget - _spent(active, active_weights, high)
    shift = max(low, high - spare / slope) if slope > 0 else high
    out = torch.zeros_like(values)
    out[positive] = (inside - shift * weights).clamp(0, 1).to(values.dtype)
    return out


def _spent(values: Tensor, costs: Tensor, shift: float) -> float:
    return float((costs * (values - shift * costs).clamp(0, 1)).sum())


def best_within(gain: Tensor, costs: Tensor, budget: float, *, limit: int | None = None) -> Tensor:
    """Find the places of the highest positive gains whose costs together fit into the budget, best first.

    An entry that does not fit is skipped in favour of the next entry that does.
    """
    rest = torch.nonzero(gain > 0).squeeze(1)
    chosen = rest[:0]
    costs = costs.double()
    budget = budget * (1 + ROUNDING)
    while True:
        rest = rest[costs[rest] <= budget]
        room = len(rest) if limit is None else min(len(rest), limit - len(chosen))
        if room == 0:
            return chosen
        most = min(room, int(budget / float(costs[rest].min())))
        best = rest[torch.topk(gain[rest], most).indices]
        spent = costs[best].cumsum(0)
        count = int((spent <= budget).sum())
        chosen = torch.cat([chosen, best[:count]])
        budget -= float(spent[count - 1])
        rest = rest[~torch.isin(rest, best[: count + 1])]


def prefix_within(costs: Tensor, budget: float) -> Tensor:
    """Take entries in their order, each if it still fits into the budget, and mark the ones taken."""
    taken = torch.zeros(len(costs), dtype=torch.bool)
    left = budget * (1 + ROUNDING)
    for place, cost in enumerate(costs.tolist()):
        if cost <= left:
            taken[place] = True
            left -= cost
    return taken
