"""An adversary inside a training: it flips edges against the weights of every epoch.

    max  Σ_i tanh(margin_i(A')) / n_a,    A' = A + p ⊙ (1 - 2A),    p in [0, 1]^block,    Σ p <= budget

p follows the projected gradient on a random block of pairs whose useless part is drawn again (PRBCD; Geisler
et al., "Robustness of Graph Neural Networks at Scale", NeurIPS 2021). Two things differ from an attack on a
finished model: the ascent begins at the flips of the epoch before, since one step of training moves a model
little, and the flips are the pairs of the highest p instead of the best of several draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from gadc._base.budget import project
from gadc._base.pairs import distinct_numbers, find_sorted, pair_ends, pair_numbers
from gadc.diffusion._graph import adjacency
from gadc.models._training.loss import margins

EdgeScores = Callable[[Tensor, Tensor], Tensor]

RATE = 1000.0  # of the steps, as PRBCD has it
FRESH_STEPS = 5  # gradient steps on one block
KEPT = 1e-7  # degree of a flip below which its pair is drawn again


@dataclass(eq=False)
class EdgeAdversary:
    """Flips of one graph, found again and again.

    Args:
        edge_index: Edges of the clean graph, shape (2, m).
        edge_weight: Their weights, or None.
        nodes: Numbers of the attacked nodes.
        labels: Their labels, or what stands for them.
        num_nodes: Number of nodes of the graph.
        rate: Largest number of flips as a share of the edges that touch an attacked node.
        num_steps: Number of gradient steps of each search.
        block_size: Number of pairs that are considered at once; at least three times the budget.
        generator: Draws the blocks.

    Attributes:
        budget: Largest number of flips.
    """

    edge_index: Tensor
    edge_weight: Tensor | None
    nodes: Tensor
    labels: Tensor
    num_nodes: int
    rate: float
    num_steps: int
    block_size: int
    generator: torch.Generator

    def __post_init__(self) -> None:
        graph = adjacency(self.edge_index, self.edge_weight, self.num_nodes)
        upper = (graph.pattern.rows < graph.pattern.cols) & (graph.values != 0)
        numbers = pair_numbers(graph.pattern.rows[upper].long(), graph.pattern.cols[upper].long())
        self._numbers, order = torch.sort(numbers)
        self._weights = graph.values[upper][order]
        self._pairs = pair_ends(self._numbers)
        touched = torch.isin(self._pairs, self.nodes).any(0)
        self.budget = round(self.rate * int(touched.sum()))
        self._total = self.num_nodes * (self.num_nodes - 1) // 2
        self._size = min(max(self.block_size, 3 * self.budget), self._total)
        self._block, self._flipped = self._numbers[:0], self._weights[:0]

    def attack(self, scores: EdgeScores) -> tuple[Tensor, Tensor]:
        """Search for flips against a model.

        Args:
            scores: Function `(edge_index, edge_weight) -> scores of all nodes`.

        Returns:
            The edges of the attacked graph, each listed in one direction, and their weights.
        """
        for start in range(0, self.num_steps if self.budget else 0, FRESH_STEPS):
            self._draw()
            # The first steps may go anywhere; those on the last block settle.
            last = start + FRESH_STEPS >= self.num_steps
            self._ascend(scores, min(FRESH_STEPS, self.num_steps - start), settle=last)
        return self._attacked()

    def _draw(self) -> None:
        """Keep the pairs that are flipped in part, up to half of the block, and draw the others."""
        kept = torch.nonzero(self._flipped > KEPT).squeeze(1)
        if len(kept) > self._size // 2:
            kept = torch.topk(self._flipped, self._size // 2).indices
        drawn = distinct_numbers(self._size - len(kept), self._total, self.generator)
        block = torch.unique(torch.cat([self._block[kept], drawn]))
        flipped = self._flipped.new_zeros(len(block))
        flipped[torch.searchsorted(block, self._block[kept])] = self._flipped[kept]
        self._block, self._flipped = block, flipped

    def _ascend(self, scores: EdgeScores, num_steps: int, *, settle: bool) -> None:
        place, there = find_sorted(self._block, self._numbers)
        place = place[there]
        new = torch.ones(len(self._block), dtype=torch.bool).index_fill(0, place, False)
        edges = torch.cat([self._pairs, pair_ends(self._block[new])], 1)
        known = torch.nonzero(there).squeeze(1)
        rate = RATE * self.budget / self.num_nodes
        for step in range(num_steps):
            flipped = self._flipped.clone().requires_grad_()
            with torch.enable_grad():
                weights = self._weights.index_add(0, known, -self._weights[known] * flipped[place])
                out = scores(edges, torch.cat([weights, flipped[new]]))
                value = margins(out[self.nodes], self.labels).tanh().mean()
                (slope,) = torch.autograd.grad(value, flipped)
            shrink = (step + 1) ** -0.5 if settle else 1.0
            self._flipped = project(self._flipped + rate * shrink * slope, self.budget)

    def _attacked(self) -> tuple[Tensor, Tensor]:
        """Flip the pairs of the highest degrees, as many as the budget pays for."""
        count = min(self.budget, int((self._flipped > KEPT).sum()))
        chosen = self._block[torch.topk(self._flipped, count).indices]
        stays = ~torch.isin(self._numbers, chosen)
        added = chosen[~torch.isin(chosen, self._numbers)]
        edges = torch.cat([self._pairs[:, stays], pair_ends(added)], 1)
        weights = torch.cat([self._weights[stays], self._weights.new_ones(len(added))])
        return edges, weights
