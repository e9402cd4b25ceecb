"""SVD-PPR-GCN: a GCN on the largest entries of PageRank over a low-rank adjacency.

This is what made the row named Soft-Median-GDC in Table 2 of Liu et al., "Graph Adversarial Diffusion
Convolution", ICML 2024; the soft median of Geisler et al. (NeurIPS 2021) has no part in it. The step is
`gadc.transforms.TruncatedPPR`:

    Π = α (I - (1-α) D^-1/2 (A_r + I) D^-1/2)^-1,    the 64 largest of each row, scaled to 1
    Z = S drop(ReLU(S X W₁ + b₁)) W₂ + b₂,           S = (Π + I) / 2, normalised by its row sums that is
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor
from torch_geometric.data import Data

from gadc.diffusion import Plain
from gadc.models._gcn import GCN
from gadc.operators import LinearOperator
from gadc.transforms import TruncatedPPR


@dataclass(frozen=True, kw_only=True)
class SVDPPRGCN(GCN):
    """GCN on the truncated PageRank matrix, which passes no gradient on.

    Args:
        rank: r of the low-rank adjacency.
        alpha: Probability α to return to the start.
        count: Entries kept in each row.
    """

    differentiable: ClassVar[bool] = False

    rank: int = 50
    alpha: float = 0.15
    count: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        self.purifier()

    def purifier(self) -> TruncatedPPR:
        """The step before the GCN."""
        return TruncatedPPR(rank=self.rank, alpha=self.alpha, count=self.count)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """The kept entries and loops, normalised by their row sums."""
        pure = self.purifier()(Data(x=x, edge_index=edge_index, edge_weight=edge_weight))
        return Plain(directed=True, listed_loops=True)(x, pure.edge_index, pure.edge_weight)
