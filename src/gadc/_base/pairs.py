"""Undirected edges as numbers: pair u < v is number v (v - 1) / 2 + u, from 0 to n (n - 1) / 2 - 1.

A set of edges is then a sorted vector, and drawing non-edges needs no n x n matrix.
"""

from __future__ import annotations

import torch
from torch import Tensor


def encode_pairs(edge_index: Tensor, edge_weight: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Sorted numbers of the undirected edges and their weights; loops are left out, repeated edges merged.

    Raises:
        ValueError: An edge is listed in one direction only, or with two weights.
    """
    source, target = edge_index
    upper = _half(torch.minimum(source, target), torch.maximum(source, target), source < target, edge_weight)
    lower = _half(torch.minimum(source, target), torch.maximum(source, target), source > target, edge_weight)
    if not torch.equal(upper[0], lower[0]):
        raise ValueError("edges must be undirected, each listed in both directions (see to_undirected).")
    if edge_weight is not None and not torch.allclose(upper[1], lower[1]):
        raise ValueError("edge_weight must be the same in both directions of an edge.")
    return upper[0], None if edge_weight is None else upper[1]


def _half(u: Tensor, v: Tensor, chosen: Tensor, edge_weight: Tensor | None) -> tuple[Tensor, Tensor]:
    u, v = u[chosen], v[chosen]
    pairs, place = torch.unique(v * (v - 1) // 2 + u, return_inverse=True)
    weight = torch.ones(len(u)) if edge_weight is None else edge_weight[chosen]
    return pairs, weight.new_zeros(len(pairs)).index_add_(0, place, weight)


def pair_numbers(u: Tensor, v: Tensor) -> Tensor:
    """Numbers of the pairs u < v."""
    return v * (v - 1) // 2 + u


def pair_ends(pairs: Tensor) -> Tensor:
    """Both ends u < v of numbered pairs, shape (2, k)."""
    v = ((1 + (1 + 8 * pairs.double()).sqrt()) / 2).long()
    v -= (v * (v - 1) // 2 > pairs).long()  # the root may be one off either way for large numbers
    v += (v * (v + 1) // 2 <= pairs).long()
    return torch.stack([pairs - v * (v - 1) // 2, v])


def decode_pairs(pairs: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Edge list with both directions of each pair, sorted."""
    u, v = pair_ends(pairs)
    edge_index = torch.stack([torch.cat([u, v]), torch.cat([v, u])])
    n = int(v.max()) + 1 if len(v) else 1
    order = torch.argsort(edge_index[0] * n + edge_index[1])
    return edge_index[:, order], None if weight is None else torch.cat([weight, weight])[order]


def distinct_numbers(count: int, total: int, generator: torch.Generator) -> Tensor:
    """`count` different numbers below `total`, every set of that size equally likely, in O(count) memory."""
    if 2 * count >= total:
        return torch.randperm(total, generator=generator)[:count]
    numbers = torch.empty(0, dtype=torch.int64)
    while len(numbers) < count:  # each draw is new with probability > 1/2
        more = torch.randint(total, (count - len(numbers),), generator=generator)
        numbers = torch.unique(torch.cat([numbers, more]))
    return numbers


def sample_non_edges(pairs: Tensor, count: int, num_nodes: int, generator: torch.Generator) -> Tensor:
    """Numbers of `count` different pairs that are not among the sorted `pairs`, uniformly.

    A non-edge is drawn by its rank r among the non-edges: its number is r plus the edges before it, and edge
    i (from 0) comes before it if pairs[i] - i <= r.
    """
    total = num_nodes * (num_nodes - 1) // 2 - len(pairs)
    ranks = distinct_numbers(count, total, generator)
    return ranks + torch.searchsorted(pairs - torch.arange(len(pairs)), ranks, right=True)
