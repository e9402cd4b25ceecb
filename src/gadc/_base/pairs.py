"""Edges as whole numbers, so that a set of edges is a sorted vector.

The **key** of edge (i, j) is i n + j. Keys sort as an edge list does, by source and then by target, and they
tell the two directions of an edge apart; the key of an undirected edge {i, j} is the key of (min, max).
Functions of keys accept tensors and NumPy arrays.

The **number** of an undirected pair u < v is v (v - 1) / 2 + u, from 0 to n (n - 1) / 2 - 1 without gaps, so
non-edges are drawn without an n × n matrix, and the number of a pair does not depend on n.
"""

from __future__ import annotations

from typing import Any, TypeVar, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_Array = NDArray[Any]
Integers = TypeVar("Integers", Tensor, _Array)


@overload
def edge_keys(edges: Tensor | tuple[Tensor, Tensor], num_nodes: int) -> Tensor: ...
@overload
def edge_keys(edges: _Array | tuple[_Array, _Array], num_nodes: int) -> _Array: ...
def edge_keys(edges: Any, num_nodes: int) -> Any:
    """Return the keys of directed edges, in 64 bits.

    Args:
        edges: Both ends, shape (2, k), or a pair of first and second ends.
        num_nodes: Number of nodes; for entries of a matrix, its number of columns.
    """
    source, target = edges
    return _wide(source) * num_nodes + target


@overload
def undirected_keys(edges: Tensor | tuple[Tensor, Tensor], num_nodes: int) -> Tensor: ...
@overload
def undirected_keys(edges: _Array | tuple[_Array, _Array], num_nodes: int) -> _Array: ...
def undirected_keys(edges: Any, num_nodes: int) -> Any:
    """Return the keys of undirected edges, whichever end comes first; see `edge_keys`."""
    u, v = edges
    library: Any = torch if isinstance(u, Tensor) else np
    keys = _wide(library.minimum(u, v)) * num_nodes
    keys += library.maximum(u, v)
    return keys


def _wide(values: Any) -> Any:
    return values.long() if isinstance(values, Tensor) else values.astype(np.int64, copy=False)


def reversed_keys(keys: Integers, num_nodes: int) -> Integers:
    """Return the keys of the same edges in the other direction."""
    mirrored: Integers = keys % num_nodes * num_nodes + keys // num_nodes
    return mirrored


def key_ends(keys: Integers, num_nodes: int) -> Integers:
    """Return both ends of edges from their keys, shape (2, k)."""
    library: Any = torch if isinstance(keys, Tensor) else np
    first = keys // num_nodes
    ends: Integers = library.stack([first, keys - first * num_nodes])
    return ends


def edge_list(keys: NDArray[Any], num_nodes: int) -> NDArray[np.int64]:
    """List both directions of distinct undirected edges, sorted, shape (2, 2 k); loops are not allowed."""
    both = np.concatenate([keys, reversed_keys(keys, num_nodes)])
    both.sort()
    edges = np.empty((2, len(both)), dtype=np.int64)
    np.divmod(both, num_nodes, out=(edges[0], edges[1]))
    return edges


def is_listed(edges: Tensor, others: Tensor, num_nodes: int) -> Tensor:
    """Return which of the edges (2, k) are among the others (2, m), in the same direction."""
    return torch.isin(edge_keys(edges, num_nodes), edge_keys(others, num_nodes))


def find_sorted(sorted_keys: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Look keys up among sorted ones.

    Returns:
        The place of each wanted key, and whether it is there; the place of an absent key has no meaning.
    """
    if not len(sorted_keys):
        return torch.zeros_like(wanted), torch.zeros_like(wanted, dtype=torch.bool)
    place = torch.searchsorted(sorted_keys, wanted).clamp(max=len(sorted_keys) - 1)
    return place, sorted_keys[place] == wanted


def pair_numbers(u: Tensor, v: Tensor) -> Tensor:
    """Return the numbers of the pairs {u, v}, u ≠ v, whichever end comes first."""
    low, high = torch.minimum(u, v), torch.maximum(u, v)
    return high * (high - 1) // 2 + low


def pair_ends(numbers: Tensor) -> Tensor:
    """Return both ends u < v of numbered pairs, shape (2, k)."""
    v = ((1 + (1 + 8 * numbers.double()).sqrt()) / 2).long()
    v -= (v * (v - 1) // 2 > numbers).long()  # the root may be one off either way for large numbers
    v += (v * (v + 1) // 2 <= numbers).long()
    return torch.stack([numbers - v * (v - 1) // 2, v])


def encode_pairs(edge_index: Tensor, edge_weight: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Return the sorted numbers of undirected edges and their weights.

    Loops are left out; the weights of an edge that is listed repeatedly are added up.

    Raises:
        ValueError: An edge is listed in one direction only, or with two weights.
    """
    source, target = edge_index
    upper = _merged(edge_index, edge_weight, source < target)
    lower = _merged(edge_index, edge_weight, source > target)
    if not torch.equal(upper[0], lower[0]):
        raise ValueError("edges must be undirected, each listed in both directions (see to_undirected).")
    if edge_weight is not None and not torch.allclose(upper[1], lower[1]):
        raise ValueError("edge_weight must be the same in both directions of an edge.")
    return upper[0], None if edge_weight is None else upper[1]


def _merged(edge_index: Tensor, edge_weight: Tensor | None, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """Return the distinct numbers of the chosen edges, and the sum of the weights of each."""
    listed = pair_numbers(*edge_index[:, chosen])
    numbers, place = torch.unique(listed, return_inverse=True)
    weight = torch.ones(len(listed)) if edge_weight is None else edge_weight[chosen]
    return numbers, weight.new_zeros(len(numbers)).index_add_(0, place, weight)


def decode_pairs(numbers: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Return the edge list with both directions of each pair, sorted, and its weights."""
    u, v = pair_ends(numbers)
    edge_index = torch.stack([torch.cat([u, v]), torch.cat([v, u])])
    order = torch.argsort(edge_keys(edge_index, int(v.max()) + 1 if len(v) else 1))
    return edge_index[:, order], None if weight is None else torch.cat([weight, weight])[order]


def distinct_numbers(count: int, total: int, generator: torch.Generator) -> Tensor:
    """Draw `count` different numbers below `total`, each set equally likely, in O(count) memory."""
    if 2 * count >= total:
        return torch.randperm(total, generator=generator)[:count]
    numbers = torch.empty(0, dtype=torch.int64)
    while len(numbers) < count:  # each draw is new with probability > 1/2
        more = torch.randint(total, (count - len(numbers),), generator=generator)
        numbers = torch.unique(torch.cat([numbers, more]))
    return numbers


def sample_non_edges(numbers: Tensor, count: int, num_nodes: int, generator: torch.Generator) -> Tensor:
    """Draw the numbers of `count` different pairs that are not among the sorted `numbers`, uniformly."""
    total = num_nodes * (num_nodes - 1) // 2 - len(numbers)
    return non_edge_numbers(numbers, distinct_numbers(count, total, generator))


def non_edge_numbers(numbers: Tensor, ranks: Tensor) -> Tensor:
    """Return the numbers of the non-edges with these ranks among all non-edges.

    Non-edge r has number r plus the edges before it, and edge i (from 0) comes before it if
    numbers[i] - i <= r.

    Args:
        numbers: Sorted numbers of the edges.
        ranks: Ranks from 0.
    """
    return ranks + torch.searchsorted(numbers - torch.arange(len(numbers)), ranks, right=True)
