"""The pairs whose flips raise a loss the most, to first order, searched one block of rows at a time."""

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
    """Find up to `count` allowed pairs u < v whose flips promise the largest gains, best first.

    Args:
        gradient: Derivatives of the loss in every pair.
        edges: The current edges, pairs u < v, shape (2, m).
        degree: The current degrees; edges at a node of degree 1 are kept, so that no node is isolated.
        rules: What is allowed.
        count: Number of pairs to find; pairs that promise no gain are left out.
        budget: Largest cost of a pair.
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
    """Turn derivatives into gains of flips in place, with -∞ for pairs that are forbidden or have u >= v."""
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
    if rules.touching is not None:
        nodes = torch.arange(start, start + gain.shape[1])
        other = ~torch.isin(nodes, rules.touching)
        gain.masked_fill_(other[:height].unsqueeze(1) & other, -torch.inf)


def _keep_affordable(gain: Tensor, start: int, rules: Rules, budget: float) -> None:
    pairs = torch.nonzero(gain > 0).T
    too_expensive = rules.costs(pairs + start) > budget
    gain[pairs[0, too_expensive], pairs[1, too_expensive]] = -torch.inf


def _highest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    if count == 1:  # many times faster than a partial sort
        best = values.argmax().unsqueeze(0)
        return values[best], best
    return tuple(torch.topk(values, min(count, len(values))))  # type: ignore[return-value]
