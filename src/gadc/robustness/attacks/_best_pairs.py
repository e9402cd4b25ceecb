"""The pairs whose flips raise a loss the most, to first order, searched a block of rows at a time."""

from __future__ import annotations

import torch
from torch import Tensor

from gadc.robustness.attacks._base import Rules
from gadc.robustness.attacks._pair_gradient import PairGradient

ENTRIES = 2**21  # entries of a block: small enough for the cache, large enough to keep the products busy


def best_pairs(
    gradient: PairGradient,
    edges: Tensor,
    degree: Tensor,
    rules: Rules,
    *,
    count: int,
    budget: float,
) -> Tensor:
    """Up to `count` pairs u < v that may be flipped and whose flips promise the most, best first.

    Args:
        gradient: Derivatives of the loss in every pair.
        edges: The edges now, pairs (2, m) with u < v.
        degree: Degrees now; an edge at a node of degree 1 is left alone, so that no node gets isolated.
        rules: What is allowed.
        count: How many pairs are wanted. Only those that promise a gain are given.
        budget: What a pair may cost.
    """
    n = len(degree)
    removable = ~(degree[edges] == 1).any(0)
    found = torch.empty(0, dtype=gradient.scale.dtype)
    pairs = torch.empty(2, 0, dtype=torch.int64)
    height = max(1, ENTRIES // n)
    for start in range(0, n - 1, height):
        stop = min(start + height, n)
        gain = gradient.block(start, stop)
        inside = (edges[0] >= start) & (edges[0] < stop)
        _keep_allowed(gain, start, edges[:, inside] - start, removable[inside], rules)
        if rules.cost is not None:
            _keep_affordable(gain, start, rules, budget)
        values, places = _highest(gain.flatten(), count)
        here = torch.stack([places // gain.shape[1], places % gain.shape[1]]) + start
        found, pairs = torch.cat([found, values]), torch.cat([pairs, here], 1)
    order = torch.argsort(found, descending=True, stable=True)[:count]
    return pairs[:, order[found[order] > 0]]


def _keep_allowed(gain: Tensor, start: int, edges: Tensor, removable: Tensor, rules: Rules) -> None:
    """Turn derivatives into gains of flips, -∞ where none is allowed and where u >= v."""
    height = len(gain)
    removal = torch.where(removable, -gain[edges[0], edges[1]], -torch.inf)
    if rules.mode == "remove":
        gain.fill_(-torch.inf)
    gain[edges[0], edges[1]] = removal if rules.mode != "add" else -torch.inf
    gain[:, :height].masked_fill_(torch.ones(height, height, dtype=torch.bool).tril(), -torch.inf)
    if rules.protected is not None:
        places = rules.protected[rules.protected >= start] - start
        gain[:, places] = -torch.inf
        gain[places[places < height]] = -torch.inf


def _keep_affordable(gain: Tensor, start: int, rules: Rules, budget: float) -> None:
    pairs = torch.nonzero(gain > 0).T
    dear = rules.costs(pairs + start) > budget
    gain[pairs[0, dear], pairs[1, dear]] = -torch.inf


def _highest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    if count == 1:  # many times faster than a partial sort
        best = values.argmax().unsqueeze(0)
        return values[best], best
    return tuple(torch.topk(values, min(count, len(values))))  # type: ignore[return-value]
