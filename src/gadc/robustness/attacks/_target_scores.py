"""Scores of a node in a linear GCN after any single flip, exactly and without building the changed graph.

With C = X W, the degrees d of Ã = A + I and s = d^-1/2, the scores of node v are

    Z_v = (S S C)_v = s_v Σ_u Ã_vu q_u / d_u,        q = Ã (s C)

Flipping (i, j) changes s and d at i and j and the two entries Ã_ij. The change of the sum follows from the
row Ã_v, the walks Ã_v D̃⁻¹ Ã and q, in O(c) operations per candidate after one pass over the edges.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gadc._base.pairs import decode_pairs, pair_numbers
from gadc.diffusion._graph import add_self_loops, adjacency


class TargetScores:
    """Scores of one node of an unweighted graph, before and after each flip.

    Args:
        projected: C = X W.
        numbers: Edges as sorted numbers of pairs, see `gadc._base.pairs`.
        target: The node v.
    """

    def __init__(self, projected: Tensor, numbers: Tensor, target: int) -> None:
        n, dtype = len(projected), projected.dtype
        edge_index, _ = decode_pairs(numbers, None)
        graph = add_self_loops(adjacency(edge_index, None, n, dtype=dtype), 1.0)
        self.projected, self.numbers, self.target = projected, numbers, target
        self.degree = torch.bincount(edge_index[0], minlength=n)  # without the self-loop
        self.full = (self.degree + 1).to(dtype)
        self.row = graph @ torch.zeros(n, dtype=dtype).index_fill_(0, torch.tensor([target]), 1.0)
        self.walks = graph @ (self.row / self.full)
        self.sums = graph @ (projected * self.full.rsqrt().unsqueeze(1))
        self.total = (self.row / self.full) @ self.sums

    def present(self, pairs: Tensor) -> Tensor:
        """Tell which pairs u < v are edges."""
        return torch.isin(pair_numbers(*pairs), self.numbers)

    def now(self) -> Tensor:
        """Compute the scores before any flip."""
        return self.total * self.full[self.target].rsqrt()

    def after(self, pairs: Tensor, present: Tensor) -> Tensor:
        """Compute the scores after each of k flips by itself, shape (k, classes).

        Args:
            pairs: Candidates, shape (2, k).
            present: Whether each candidate is an edge now, shape (k,).
        """
        was = present.to(self.full.dtype).unsqueeze(1)
        change = 1 - 2 * was
        ends = [_End(self, node, change) for node in pairs]
        total = self.total + sum(self.walks[end.node].unsqueeze(1) * end.shift for end in ends)
        degree = self.full[self.target]
        for end, other in (ends, ends[::-1]):
            hit = (other.node == self.target).unsqueeze(1)
            sums = self.sums[end.node] + end.shift + was * other.shift
            row = self.row[end.node].unsqueeze(1)
            total = total - row / end.old_degree * sums
            total = total + (row + change * hit) / end.degree * (sums + change * other.value)
            degree = degree + change * hit
        return total * degree.rsqrt()


class _End:
    """The changes that a flip makes at one of its two nodes."""

    def __init__(self, scores: TargetScores, node: Tensor, change: Tensor) -> None:
        self.node = node
        self.old_degree = scores.full[node].unsqueeze(1)
        self.degree = self.old_degree + change
        self.value = self.degree.rsqrt() * scores.projected[node]  # s C after the flip
        self.shift = (self.degree.rsqrt() - self.old_degree.rsqrt()) * scores.projected[node]
