"""GCN-GARNET: a GCN on the graph rebuilt from the leading spectrum.

Deng, X. Li, Feng and Z. Zhang, "GARNET: Reduced-Rank Topology Learning for Robust and Scalable Graph Neural
Networks", Learning on Graphs 2022. The step is `gadc.transforms.Garnet`:

    Q = U √Σ,  R = V √Σ  of  D^-1/2 A D^-1/2;    nearest neighbours in Q, kept with weight q_i · r_j > γ
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor
from torch_geometric.data import Data

from gadc.models._gcn import GCN
from gadc.operators import LinearOperator
from gadc.transforms import Garnet


@dataclass(frozen=True, kw_only=True)
class GCNGarnet(GCN):
    """GCN on the rebuilt, weighted graph. No gradient reaches the edges.

    Args:
        rank: Number of singular triplets (default 50).
        neighbors: Number of nearest neighbours per node (default 30).
        threshold: Smallest weight γ of an edge that is kept (default 0.0003).
        features: Whether smoothed features join the spectral coordinates (default False).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import GCNGarnet
        >>> GCNGarnet(rank=4, neighbors=3, epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    differentiable: ClassVar[bool] = False

    rank: int = 50
    neighbors: int = 30
    threshold: float = 3e-4
    features: bool = False
    num_layers: int = 3
    hidden: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        self.purifier()

    def purifier(self) -> Garnet:
        """Return the purification that runs before the GCN."""
        return Garnet(
            rank=self.rank, neighbors=self.neighbors, threshold=self.threshold, features=self.features
        )

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return Â of the rebuilt graph."""
        pure = self.purifier()(Data(x=x, edge_index=edge_index, edge_weight=edge_weight))
        return super().graph(x, pure.edge_index, pure.edge_weight)
