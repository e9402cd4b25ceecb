"""PageRank over a low-rank adjacency, cut down to the largest entries of each row.

    Π = α (I - (1-α) T)^-1,    T = D^-1/2 (A_r + I) D^-1/2 = Δ + L Rᵀ    (see `gadc.diffusion._low_rank`)

T is diagonal plus rank r, and so is its resolvent (Woodbury): with G = I - (1-α) Δ,

    Π = α G^-1 + α (1-α) G^-1 L (I - (1-α) Rᵀ G^-1 L)^-1 Rᵀ G^-1

which is exact and needs no n × n matrix; rows of Π are formed a block at a time to find their largest
entries. The low-rank matrix has negative entries, hence so may Π, which is no probability then; negative
entries are left out, and rows are scaled to 1 after the cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.validation import check_count
from gadc.diffusion import LowRank
from gadc.transforms.purification._edges import graph_of, largest_products, with_graph


@dataclass(frozen=True, kw_only=True)
class TruncatedPPR:
    """Replaces all edges by the largest entries of each row of Π; the new weights have no gradient.

    Args:
        rank: r of the low-rank adjacency.
        alpha: Probability α to return to the start.
        count: Entries kept in each row.
        seed: Of the eigensolver's start; it decides rounding, no more.
    """

    rank: int = 50
    alpha: float = 0.15
    count: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        LowRank(rank=self.rank, seed=self.seed)
        check_count("TruncatedPPR", self.count, "count", low=1)
        if not 0 < self.alpha < 1:
            raise ValueError(f"TruncatedPPR: alpha must lie in (0, 1), got {self.alpha!r}.")

    @torch.no_grad()
    def __call__(self, data: Data) -> Data:
        """A copy with directed edges, loops among them: edge (i, j) is the entry of row i and column j."""
        x, edge_index, edge_weight = graph_of("TruncatedPPR", data)
        n = len(x)
        left, right, diagonal = self.resolvent(x, edge_index, edge_weight)
        values, columns = largest_products(left, right, min(self.count, n), diagonal)
        values = values.clamp(min=0.0)
        values = values / values.sum(1, keepdim=True).clamp(min=torch.finfo(values.dtype).tiny)
        rows = torch.arange(n, device=x.device).unsqueeze(1).expand_as(columns)
        kept = values > 0
        return with_graph(
            data, edge_index=torch.stack([rows[kept], columns[kept]]), edge_weight=values[kept].to(x.dtype)
        )

    def resolvent(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """L, R and the diagonal in Π = L Rᵀ + diag, in double precision."""
        step = LowRank(rank=self.rank, seed=self.seed)(x.double(), edge_index, edge_weight)
        if step.left is None or step.right is None:
            raise ValueError("TruncatedPPR: the low-rank step has no factors.")
        damping = 1 - self.alpha
        inverse = 1 / (1 - damping * step.values)
        left, right = inverse.unsqueeze(1) * step.left, inverse.unsqueeze(1) * step.right
        core = torch.eye(left.shape[1], dtype=left.dtype, device=left.device) - damping * step.right.T @ left
        factor = self.alpha * damping * torch.linalg.solve(core, right.T).T
        return left, factor, self.alpha * inverse
