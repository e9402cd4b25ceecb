"""STABLE: embeddings learned without labels decide which edges to drop and which to add.

K. Li, Y. Liu, Ao, Chi, Feng, H. Yang and He, "Reliable Representations Make A Stronger Defender: Unsupervised
Structure Refinement for Robust GNN", KDD 2022.

    1. A₁ is A without the edges of Jaccard similarity below t₁
    2. embeddings E of A₁ + β I, trained to differ from shuffled nodes in two views: each view is
       A₁ + (β+1) I and some of the dropped edges (see `gadc.transforms.purification._contrast`)
    3. edges of A with cos(e_i, e_j) > t₂ stay
    4. row i gets weight 1 at the k nodes most similar to i, i itself among them, that kept more than one edge

Given a trained encoder, the embeddings and the weights of edges that stay are differentiable in the weights
of the edges.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from gadc._base.pairs import distinct_numbers, is_listed
from gadc._base.scalars import check_count, check_number
from gadc.diffusion._graph import add_self_loops, adjacency, normalize
from gadc.diffusion._similarity import unit_rows
from gadc.operators import LinearOperator
from gadc.transforms.purification._contrast import Encoder, train_encoder
from gadc.transforms.purification._edges import (
    both_directions,
    edge_cosine,
    edge_jaccard,
    graph_of,
    largest_products,
)


@dataclass(frozen=True, kw_only=True)
class Stable(BaseTransform):  # type: ignore[misc]
    """Refine the edges by embeddings that are learned without labels, and replace the features by them.

    The new edges are directed: edge (i, j) is the entry in row i and column j.

    Args:
        jaccard: Threshold t₁ >= 0 of the Jaccard similarity, 0.03 by default.
        self_loops: Weight β >= 0 of the self-loops in the encoder, 2 by default.
        restored: Share of the dropped edges that each view gets back, between 0 and 1; 0.2 by default.
        cosine: Threshold t₂ >= -1 of the cosine of two embeddings, 0.25 by default.
        neighbors: Number k of similar nodes, 7 by default. A node is the most similar to itself, so that
            edges to k - 1 others are added.
        width: Width of the embeddings, 512 by default.
        lr: Learning rate of the encoder, 0.001 by default.
        max_epochs: Largest number of training steps of the encoder, 10000 by default.
        patience: Number of steps without a lower loss after which training stops, 20 by default.
        seed: Seed of views, weights and shuffles, 0 by default.

    Shapes:
        - `x`: (nodes, features) before, (nodes, width) after
        - `edge_index`: (2, edges) before, (2, new edges) after

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.transforms import Stable
        >>> refined = Stable(width=4, max_epochs=2, jaccard=0.0)(csbm(20, mean_degree=4.0))
        >>> refined.x.shape
        torch.Size([20, 4])
    """

    jaccard: float = 0.03
    self_loops: float = 2.0
    restored: float = 0.2
    cosine: float = 0.25
    neighbors: int = 7
    width: int = 512
    lr: float = 0.001
    max_epochs: int = 10000
    patience: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("jaccard", "self_loops", "restored"):
            check_number("Stable", getattr(self, name), name)
        check_number("Stable", self.cosine, "cosine", low=-1.0)
        check_number("Stable", self.lr, "lr", strict=True)
        for name in ("neighbors", "width", "max_epochs", "patience"):
            check_count("Stable", getattr(self, name), name, low=1)
        check_count("Stable", self.seed, "seed")
        if self.restored > 1:
            raise ValueError(f"Stable: restored must be between 0 and 1, got {self.restored!r}.")

    def forward(self, data: Data) -> Data:
        """Train an encoder, then replace features, edges and weights: all four stages."""
        return self.refine(data, self.encoder(data))

    def encoder(self, data: Data) -> Encoder:
        """Train the encoder of a graph: stages 1 and 2."""
        x, edge_index, weight = self._graph(data)
        x, weight = x.detach(), weight.detach()
        similar = edge_jaccard(x, edge_index) >= self.jaccard
        loops = self.self_loops
        views = [
            self._normalized(x, edge_index, weight, similar | back, loops + 1)
            for back in self._restored(edge_index, similar)
        ]
        return train_encoder(
            x,
            self._normalized(x, edge_index, weight, similar, loops),
            (views[0], views[1]),
            width=self.width,
            lr=self.lr,
            epochs=self.max_epochs,
            patience=self.patience,
            seed=self.seed,
        )

    def refine(self, data: Data, encoder: Encoder) -> Data:
        """Return a refined copy of a graph: stages 1, 3 and 4.

        Args:
            data: The graph.
            encoder: An encoder that was trained on this graph or on another one.
        """
        x, edge_index, weight = self._graph(data)
        similar = edge_jaccard(x.detach(), edge_index) >= self.jaccard
        embeddings = encoder(x, self._normalized(x, edge_index, weight, similar, self.self_loops))
        fixed = embeddings.detach()
        keep = edge_cosine(fixed, edge_index) > self.cosine
        edge_index, weight = edge_index[:, keep], weight[keep]
        degree = torch.bincount(edge_index[0, weight.detach() > 0], minlength=len(x))
        added = similar_nodes(fixed, degree > 1, self.neighbors)
        other = ~is_listed(edge_index, added, len(x))
        refined = copy.copy(data)
        refined.x = embeddings
        refined.edge_index = torch.cat([edge_index[:, other], added], 1)
        refined.edge_weight = torch.cat([weight[other], weight.new_ones(added.shape[1])])
        return refined

    def _graph(self, data: Data) -> tuple[Tensor, Tensor, Tensor]:
        x, edge_index, edge_weight = graph_of("Stable", data)
        return x, *both_directions(x, edge_index, edge_weight, owner="Stable")

    def _restored(self, edge_index: Tensor, similar: Tensor) -> list[Tensor]:
        """Draw the dropped edges that each view gets back, always both directions of an edge."""
        source, target = edge_index
        upper = torch.nonzero(~similar & (source < target)).flatten()
        n = int(edge_index.max()) + 1 if edge_index.numel() else 1
        generator = torch.Generator().manual_seed(self.seed)
        views = []
        for _ in range(2):
            drawn = upper[distinct_numbers(int(self.restored * len(upper)), len(upper), generator)]
            pairs = edge_index[:, drawn]
            views.append(is_listed(edge_index, torch.cat([pairs, pairs.flip(0)], 1), n))
        return views

    def _normalized(
        self, x: Tensor, edge_index: Tensor, weight: Tensor, chosen: Tensor, loops: float
    ) -> LinearOperator:
        """Build the normalised adjacency of the chosen edges with self-loops."""
        graph = adjacency(edge_index[:, chosen], weight[chosen], len(x), dtype=x.dtype, owner="Stable")
        return normalize(add_self_loops(graph, loops), "sym", owner="Stable")


def similar_nodes(embeddings: Tensor, candidates: Tensor, count: int) -> Tensor:
    """List edges from each node to its `count` most similar candidates by cosine.

    A candidate is the most similar to itself; this takes one of the `count` places and gives no edge.

    Args:
        embeddings: Matrix (nodes, width).
        candidates: Boolean mask (nodes,).
        count: Number of candidates per node.

    Returns:
        The edges, (2, edges).
    """
    nodes = torch.nonzero(candidates).flatten()
    directions = unit_rows(embeddings)
    _, nearest = largest_products(directions, directions[nodes], min(count, len(nodes)))
    rows = torch.arange(len(embeddings), device=nodes.device).unsqueeze(1).expand_as(nearest)
    edges = torch.stack([rows.flatten(), nodes[nearest.flatten()]])
    return edges[:, edges[0] != edges[1]]
