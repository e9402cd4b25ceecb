"""GARNET: a graph rebuilt from the leading spectrum of the one that was attacked.

Deng, X. Li, Feng and Z. Zhang, "GARNET: Reduced-Rank Topology Learning for Robust and Scalable Graph Neural
Networks", Learning on Graphs 2022.

    P = D^-1/2 A D^-1/2 ≈ U Σ Vᵀ,    Q = U √Σ,    R = V √Σ        (each joined with ½ P² X if asked to)

The nearest neighbours of the rows of Q are joined, and of these edges those stay whose q_i · r_j exceeds γ,
with that weight. Without features it is the entry of P at that rank. (The theory prunes by the distortion of
a spectral embedding; the product is the stand-in that the published code has.)
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from sklearn.neighbors import NearestNeighbors
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.validation import check_count, check_number
from gadc.diffusion import Plain
from gadc.diffusion._low_rank import leading_eigenpairs
from gadc.transforms.purification._edges import edge_products, graph_of, with_graph


@dataclass(frozen=True, kw_only=True)
class Garnet:
    """Replaces all edges; the new weights have no gradient.

    Args:
        rank: Number of singular triplets.
        neighbors: Nearest neighbours of each node, found exactly.
        threshold: γ.
        features: Whether ½ P² X joins the spectral coordinates.
        seed: Of the eigensolver's start; it decides rounding, no more.
    """

    rank: int = 50
    neighbors: int = 30
    threshold: float = 3e-4
    features: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("Garnet", self.rank, "rank", low=1)
        check_count("Garnet", self.neighbors, "neighbors", low=1)
        check_number("Garnet", self.threshold, "threshold")
        check_count("Garnet", self.seed, "seed")

    @torch.no_grad()
    def __call__(self, data: Data) -> Data:
        """A copy with other edges, each in both directions, and weights."""
        left, right = self.embed(*graph_of("Garnet", data))
        pairs = nearest_pairs(left, self.neighbors)
        weight = edge_products(left, right, pairs)
        keep = weight > self.threshold
        pairs, weight = pairs[:, keep], weight[keep]
        return with_graph(
            data, edge_index=torch.cat([pairs, pairs.flip(0)], 1), edge_weight=torch.cat([weight, weight])
        )

    def embed(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> tuple[Tensor, Tensor]:
        """Q and R."""
        graph = Plain(self_loops=0.0)(x, edge_index, edge_weight)
        eigenvalues, vectors = leading_eigenpairs(graph, self.rank, seed=self.seed)
        left = vectors * eigenvalues.abs().sqrt()
        right = left * eigenvalues.sign()
        if not self.features:
            return left, right
        smooth = 0.5 * (graph @ (graph @ x))
        return torch.cat([left, smooth], 1), torch.cat([right, smooth], 1)


def nearest_pairs(points: Tensor, count: int) -> Tensor:
    """Pairs i > j of which one is among the `count` nearest other points of the other, shape (2, pairs)."""
    n = len(points)
    count = min(count, n - 1)
    if count == 0:
        return torch.empty(2, 0, dtype=torch.int64, device=points.device)
    search = NearestNeighbors(n_neighbors=count, algorithm="brute").fit(points.cpu().numpy())
    found = torch.from_numpy(search.kneighbors(return_distance=False)).flatten()
    nodes = torch.arange(n).repeat_interleave(count)
    keys = torch.unique(torch.maximum(nodes, found) * n + torch.minimum(nodes, found))
    return torch.stack([keys // n, keys % n]).to(points.device)
