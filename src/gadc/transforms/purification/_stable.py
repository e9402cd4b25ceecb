"""STABLE: embeddings learned without labels decide which edges to drop and which to add.

K. Li, Y. Liu, Ao, Chi, Feng, H. Yang and He, "Reliable Representations Make A Stronger Defender: Unsupervised
Structure Refinement for Robust GNN", KDD 2022.

    1. A₁ is A without the edges of Jaccard similarity below t₁
    2. embeddings E from A₁ + β I, contrasted with two views: A₁ + (β+1) I and some of the dropped edges each
       (see `gadc.transforms.purification._contrast`)
    3. of A itself, the edges with cos(e_i, e_j) > t₂ stay
    4. row i gets weight 1 at the k nodes most similar to i, itself among them, that kept more than one edge

Without 2, all that depends on weights of edges is differentiable in them: those of edges that stay, and E.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import distinct_numbers
from gadc._base.validation import check_count, check_number
from gadc.diffusion._graph import add_self_loops, adjacency, normalize
from gadc.operators import LinearOperator
from gadc.transforms.purification._contrast import Encoder, train_encoder
from gadc.transforms.purification._edges import (
    both_directions,
    edge_cosine,
    edge_jaccard,
    graph_of,
    largest_products,
    with_graph,
)


@dataclass(frozen=True, kw_only=True)
class Stable:
    """Refines the edges, and puts the embeddings in the place of the features.

    Args:
        jaccard: Threshold t₁.
        self_loops: Weight β of the loops under the encoder.
        restored: Share of the dropped edges that each view gets back.
        cosine: Threshold t₂.
        neighbors: k; since a node is its own nearest, k - 1 others are joined to it.
        width: Width of the embeddings.
        lr: Learning rate of the encoder.
        max_epochs: Its training steps at most.
        patience: Steps without a lower loss after which it stops.
        seed: Of views, weights and shuffles.
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

    def __call__(self, data: Data) -> Data:
        """All four stages: a copy with embeddings `x` and directed edges, (i, j) being the entry of row i."""
        return self.refine(data, self.encoder(data))

    def encoder(self, data: Data) -> Encoder:
        """Stages 1 and 2: the trained encoder of this graph."""
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
        """Stages 1, 3 and 4 with an encoder that is trained already, on this graph or another."""
        x, edge_index, weight = self._graph(data)
        similar = edge_jaccard(x.detach(), edge_index) >= self.jaccard
        embeddings = encoder(x, self._normalized(x, edge_index, weight, similar, self.self_loops))
        fixed = embeddings.detach()
        keep = edge_cosine(fixed, edge_index) > self.cosine
        edge_index, weight = edge_index[:, keep], weight[keep]
        degree = torch.bincount(edge_index[0, weight.detach() > 0], minlength=len(x))
        added = similar_nodes(fixed, degree > 1, self.neighbors)
        n = len(x)
        other = ~torch.isin(edge_index[0] * n + edge_index[1], added[0] * n + added[1])
        return with_graph(
            data,
            x=embeddings,
            edge_index=torch.cat([edge_index[:, other], added], 1),
            edge_weight=torch.cat([weight[other], weight.new_ones(added.shape[1])]),
        )

    def _graph(self, data: Data) -> tuple[Tensor, Tensor, Tensor]:
        x, edge_index, edge_weight = graph_of("Stable", data)
        return x, *both_directions(x, edge_index, edge_weight, owner="Stable")

    def _restored(self, edge_index: Tensor, similar: Tensor) -> list[Tensor]:
        """For each view, which dropped edges it gets back; both directions of an edge go together."""
        source, target = edge_index
        upper = torch.nonzero(~similar & (source < target)).flatten()
        n = int(edge_index.max()) + 1 if edge_index.numel() else 1
        generator = torch.Generator().manual_seed(self.seed)
        views = []
        for _ in range(2):
            drawn = upper[distinct_numbers(int(self.restored * len(upper)), len(upper), generator)]
            keys = torch.cat([source[drawn] * n + target[drawn], target[drawn] * n + source[drawn]])
            views.append(torch.isin(source * n + target, keys))
        return views

    def _normalized(
        self, x: Tensor, edge_index: Tensor, weight: Tensor, chosen: Tensor, loops: float
    ) -> LinearOperator:
        graph = adjacency(edge_index[:, chosen], weight[chosen], len(x), dtype=x.dtype, owner="Stable")
        return normalize(add_self_loops(graph, loops), "sym", owner="Stable")


def similar_nodes(embeddings: Tensor, candidates: Tensor, count: int) -> Tensor:
    """Edges from each node to its `count` most similar candidates by cosine; itself counts, without edge."""
    nodes = torch.nonzero(candidates).flatten()
    directions = torch.nn.functional.normalize(embeddings, dim=1)
    _, nearest = largest_products(directions, directions[nodes], min(count, len(nodes)))
    rows = torch.arange(len(embeddings), device=nodes.device).unsqueeze(1).expand_as(nearest)
    edges = torch.stack([rows.flatten(), nodes[nearest.flatten()]])
    return edges[:, edges[0] != edges[1]]
