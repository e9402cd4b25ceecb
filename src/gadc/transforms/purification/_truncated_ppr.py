"""PageRank over a low-rank adjacency, truncated to the largest entries of each row.

    Π = α (I - (1-α) T)^-1,    T = D^-1/2 (A_r + I) D^-1/2 = Δ + L Rᵀ    (see `gadc.diffusion._low_rank`)

T is a diagonal plus a matrix of rank r, and so is its resolvent (Woodbury): with G = I - (1-α) Δ,

    Π = α G^-1 + α (1-α) G^-1 L (I - (1-α) Rᵀ G^-1 L)^-1 Rᵀ G^-1

This is exact and needs no n × n matrix: rows of Π are formed a block at a time to find their largest entries.
A low-rank adjacency has negative entries, so Π may have negative entries, too. They are left out, and rows
are scaled to sum 1 after the truncation.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from gadc._base.scalars import check_count
from gadc.diffusion import LowRank
from gadc.transforms.purification._edges import graph_of, largest_products


@dataclass(frozen=True, kw_only=True)
class TruncatedPPR(BaseTransform):  # type: ignore[misc]
    """Replace all edges by the largest entries of each row of Π, the PageRank of a low-rank adjacency.

    The new edges are directed and include self-loops: edge (i, j) has weight Π_ij. The weights carry no
    gradient.

    Args:
        rank: Rank r of the adjacency, 50 by default.
        alpha: Probability α in (0, 1) to return to the start, 0.15 by default.
        count: Number of entries kept in each row, 64 by default.
        seed: Seed of the eigensolver's start vector, 0 by default; it affects rounding only.

    Shapes:
        - `x`: (nodes, features)
        - `edge_index`: (2, edges) before, (2, at most nodes · count) after

    Examples:
        >>> import torch
        >>> from gadc.datasets import csbm
        >>> from gadc.transforms import TruncatedPPR
        >>> pure = TruncatedPPR(rank=4, count=3)(csbm(60, mean_degree=8.0))
        >>> sums = torch.zeros(60).index_add(0, pure.edge_index[0], pure.edge_weight)
        >>> bool(torch.allclose(sums, torch.ones(60)))
        True
    """

    rank: int = 50
    alpha: float = 0.15
    count: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("TruncatedPPR", self.rank, "rank", low=1)
        check_count("TruncatedPPR", self.count, "count", low=1)
        check_count("TruncatedPPR", self.seed, "seed")
        if not 0 < self.alpha < 1:
            raise ValueError(f"TruncatedPPR: alpha must lie in (0, 1), got {self.alpha!r}.")

    @torch.no_grad()
    def forward(self, data: Data) -> Data:
        """Replace the edges and their weights."""
        x, edge_index, edge_weight = graph_of("TruncatedPPR", data)
        n = len(x)
        left, right, diagonal = self.resolvent(x, edge_index, edge_weight)
        values, columns = largest_products(left, right, min(self.count, n), diagonal)
        values = values.clamp(min=0.0)
        values = values / values.sum(1, keepdim=True).clamp(min=torch.finfo(values.dtype).tiny)
        rows = torch.arange(n, device=x.device).unsqueeze(1).expand_as(columns)
        kept = values > 0
        data.edge_index = torch.stack([rows[kept], columns[kept]])
        data.edge_weight = values[kept].to(x.dtype)
        return data

    def resolvent(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Compute the factors in Π = L Rᵀ + diag in double precision.

        Returns:
            L and R, both (nodes, rank), and the diagonal, (nodes,).
        """
        step = LowRank(rank=self.rank, seed=self.seed)(x.double(), edge_index, edge_weight)
        if step.left is None or step.right is None:
            raise ValueError("TruncatedPPR: the low-rank transition has no factors.")
        damping = 1 - self.alpha
        inverse = 1 / (1 - damping * step.values)
        left, right = inverse.unsqueeze(1) * step.left, inverse.unsqueeze(1) * step.right
        core = torch.eye(left.shape[1], dtype=left.dtype, device=left.device) - damping * step.right.T @ left
        factor = self.alpha * damping * torch.linalg.solve(core, right.T).T
        return left, factor, self.alpha * inverse
