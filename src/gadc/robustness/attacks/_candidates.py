"""The pairs that an attack considers: all that the rules allow, or a block of them if they are too many."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import distinct_numbers, encode_pairs, non_edge_numbers, pair_ends, pair_numbers
from gadc.robustness.attacks._base import Rules

BLOCK_SIZE = 4_500_000  # all pairs of 3000 nodes


@dataclass(frozen=True, eq=False)
class PairSpace:
    """The pairs that the rules allow to flip, numbered 0..size-1.

    Attributes:
        free: Nodes that are not protected. Those that a pair need not touch come first, so that the pairs
            among them have the lowest numbers and can be left out.
        edges: Sorted pair numbers of the edges among the free nodes, which are renumbered from 0, without the
            pairs that are left out and counted from the first that is not.
        mode: The mode of the rules.
        skipped: Number of the pairs that are left out because they touch none of the required nodes.
    """

    free: Tensor
    edges: Tensor
    mode: str
    skipped: int = 0

    @classmethod
    def of(cls, data: Data, rules: Rules) -> PairSpace:
        """Build the space of a graph."""
        is_free = torch.ones(data.num_nodes, dtype=torch.bool)
        if rules.protected is not None:
            is_free[rules.protected] = False
        nodes = torch.nonzero(is_free).squeeze(1)
        required = torch.ones_like(nodes, dtype=torch.bool)
        if rules.touching is not None:
            required = torch.isin(nodes, rules.touching)
        num_others = int((~required).sum())
        free = torch.cat([nodes[~required], nodes[required]])
        u, v = pair_ends(encode_pairs(data.edge_index, None)[0])
        inner = is_free[u] & is_free[v]
        place = torch.empty(data.num_nodes, dtype=torch.int64)
        place[free] = torch.arange(len(free))
        skipped = num_others * (num_others - 1) // 2
        edges = pair_numbers(place[u[inner]], place[v[inner]]) - skipped
        return cls(free, torch.sort(edges[edges >= 0]).values, rules.mode, skipped)

    @property
    def size(self) -> int:
        """Number of pairs."""
        if self.mode == "remove":
            return len(self.edges)
        total = len(self.free) * (len(self.free) - 1) // 2 - self.skipped
        return total - len(self.edges) if self.mode == "add" else total

    def pairs(self, ranks: Tensor) -> Tensor:
        """Return the pairs with these numbers, shape (2, k)."""
        if self.mode == "remove":
            ranks = self.edges[ranks]
        elif self.mode == "add":
            ranks = non_edge_numbers(self.edges, ranks)
        return self.free[pair_ends(ranks + self.skipped)].sort(0).values

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Draw `count` different pairs uniformly, in random order, or all pairs if there are fewer."""
        ranks = distinct_numbers(min(count, self.size), self.size, generator)
        return self.pairs(ranks[torch.randperm(len(ranks), generator=generator)])


def candidate_pairs(
    data: Data, rules: Rules, nodes: Tensor, block_size: int, generator: torch.Generator
) -> Tensor:
    """Return all allowed pairs if there are at most `block_size`, otherwise a block of them.

    At most a quarter of the block is used for existing edges, and another quarter for the pairs at the
    attacked nodes if all of these fit; the rest is drawn at random.
    """
    space = PairSpace.of(data, rules)
    if space.size <= block_size:
        return space.pairs(torch.arange(space.size))
    chosen = []
    if space.mode == "flip":
        edges = replace(space, mode="remove")
        chosen.append(edges.draw(block_size // 4, generator))
    n = data.num_nodes
    if len(nodes) * n <= block_size // 4:
        ends = torch.cartesian_prod(nodes, torch.arange(n)).T
        chosen.append(ends.sort(0).values[:, ends[0] != ends[1]])
    known = _distinct(chosen, data, rules)
    return _distinct([known, space.draw(block_size - known.shape[1], generator)], data, rules)


def is_edge(data: Data, pairs: Tensor) -> Tensor:
    """Tell which pairs are edges of the graph."""
    return torch.isin(pair_numbers(*pairs), encode_pairs(data.edge_index, None)[0])


def _distinct(blocks: list[Tensor], data: Data, rules: Rules) -> Tensor:
    if not blocks:
        return torch.empty(2, 0, dtype=torch.int64)
    pairs = pair_ends(torch.unique(pair_numbers(*torch.cat(blocks, 1))))
    return pairs[:, rules.allowed(pairs, is_edge(data, pairs))]
