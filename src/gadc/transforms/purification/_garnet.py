"""GARNET: rebuild a graph from the leading spectrum of the attacked graph.

Deng, X. Li, Feng and Z. Zhang, "GARNET: Reduced-Rank Topology Learning for Robust and Scalable Graph Neural
Networks", Learning on Graphs 2022.

    P = D^-1/2 A D^-1/2 ≈ U Σ Vᵀ,    Q = U √Σ,    R = V √Σ        (optionally each joined with ½ P² X)

Each node is joined with the nearest neighbours of its row of Q. Such an edge stays if q_i · r_j > γ and gets
that product as its weight; without features the product is the entry of P at rank r. (The theory prunes edges
by the distortion of a spectral embedding; the published code uses the product instead.)
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from sklearn.neighbors import NearestNeighbors
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from gadc._base.pairs import pair_ends, pair_numbers
from gadc._base.scalars import check_count, check_number
from gadc.diffusion import Plain
from gadc.diffusion._low_rank import leading_eigenpairs
from gadc.transforms.purification._edges import edge_products, graph_of


@dataclass(frozen=True, kw_only=True)
class Garnet(BaseTransform):  # type: ignore[misc]
    """Replace all edges by weighted edges between nodes that are close in the spectrum of the graph.

    The new weights carry no gradient.

    Args:
        rank: Number r of singular triplets, 50 by default.
        neighbors: Number of nearest neighbours of each node, found exactly; 30 by default.
        threshold: Smallest product γ >= 0; edges must exceed it. 3e-4 by default.
        features: Whether ½ P² X joins the spectral coordinates; False by default.
        seed: Seed of the eigensolver's start vector, 0 by default; it affects rounding only.

    Shapes:
        - `x`: (nodes, features)
        - `edge_index`: (2, edges) before, (2, new edges) in both directions after

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.transforms import Garnet
        >>> data = csbm(60, mean_degree=8.0)
        >>> pure = Garnet(rank=4, neighbors=5)(data)
        >>> pure.is_undirected(), bool((pure.edge_weight > 3e-4).all())
        (True, True)
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
    def forward(self, data: Data) -> Data:
        """Replace the edges and their weights."""
        left, right = self.embed(*graph_of("Garnet", data))
        pairs = nearest_pairs(left, self.neighbors)
        weight = edge_products(left, right, pairs)
        keep = weight > self.threshold
        pairs, weight = pairs[:, keep], weight[keep]
        data.edge_index = torch.cat([pairs, pairs.flip(0)], 1)
        data.edge_weight = torch.cat([weight, weight])
        return data

    def embed(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> tuple[Tensor, Tensor]:
        """Compute Q and R, both (nodes, rank) or (nodes, rank + features)."""
        graph = Plain(self_loops=0.0)(x, edge_index, edge_weight)
        eigenvalues, vectors = leading_eigenpairs(graph, self.rank, seed=self.seed)
        left = vectors * eigenvalues.abs().sqrt()
        right = left * eigenvalues.sign()
        if not self.features:
            return left, right
        smooth = 0.5 * (graph @ (graph @ x))
        return torch.cat([left, smooth], 1), torch.cat([right, smooth], 1)


def nearest_pairs(points: Tensor, count: int) -> Tensor:
    """Find the pairs i > j where i is among the `count` nearest other points of j, or j among those of i.

    Returns:
        The pairs, (2, pairs), each once.
    """
    n = len(points)
    count = min(count, n - 1)
    if count == 0:
        return torch.empty(2, 0, dtype=torch.int64, device=points.device)
    search = NearestNeighbors(n_neighbors=count, algorithm="brute").fit(points.cpu().numpy())
    found = torch.from_numpy(search.kneighbors(return_distance=False)).flatten()
    nodes = torch.arange(n).repeat_interleave(count)
    pairs = pair_ends(torch.unique(pair_numbers(nodes, found)))
    return pairs.flip(0).to(points.device)
