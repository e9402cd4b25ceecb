"""SVD-PPR-GCN: a GCN on the largest entries of PageRank over a low-rank adjacency.

This model produced the row named Soft-Median-GDC in Table 2 of Liu et al., "Graph Adversarial Diffusion
Convolution", ICML 2024; the soft median of Geisler et al. (NeurIPS 2021) is not part of it. The step is
`gadc.transforms.TruncatedPPR`:

    Π = α (I - (1-α) D^-1/2 (A_r + I) D^-1/2)^-1,    the 64 largest of each row, scaled to 1
    Z = S drop(ReLU(S X W₁ + b₁)) W₂ + b₂,           S = Π + I, normalised by its row sums
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
    """GCN on the truncated PageRank matrix. No gradient reaches the edges.

    Args:
        rank: Rank r of the adjacency (default 50).
        alpha: Probability α to return to the start (default 0.15).
        count: Number of entries kept per row (default 64).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import SVDPPRGCN
        >>> SVDPPRGCN(rank=4, count=8, epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    differentiable: ClassVar[bool] = False

    rank: int = 50
    alpha: float = 0.15
    count: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        self.purifier()

    def purifier(self) -> TruncatedPPR:
        """Return the purification that runs before the GCN."""
        return TruncatedPPR(rank=self.rank, alpha=self.alpha, count=self.count)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return the kept entries and self-loops, normalised by their row sums."""
        pure = self.purifier()(Data(x=x, edge_index=edge_index, edge_weight=edge_weight))
        return Plain(directed=True, listed_loops=True)(x, pure.edge_index, pure.edge_weight)
