"""GCN-Jaccard: edges between nodes that share hardly a feature are dropped, then a GCN.

H. Wu, C. Wang, Tyshetskiy, Docherty, Lu and Zhu, "Adversarial Examples for Graph Data: Deep Insights into
Attack and Defense", IJCAI 2019. The step is `gadc.transforms.Jaccard`:

    J_ij = |x_i ∧ x_j| / |x_i ∨ x_j|        the edge goes if J_ij < θ
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch_geometric.data import Data

from gadc.models._gcn import GCN
from gadc.operators import LinearOperator
from gadc.transforms import Jaccard


@dataclass(frozen=True, kw_only=True)
class GCNJaccard(GCN):
    """GCN on the edges that are left.

    Args:
        threshold: θ.
    """

    threshold: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        self.purifier()

    def purifier(self) -> Jaccard:
        """The step before the GCN."""
        return Jaccard(threshold=self.threshold)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Â of the edges that are left."""
        pure = self.purifier()(Data(x=x, edge_index=edge_index, edge_weight=edge_weight))
        return super().graph(x, pure.edge_index, pure.edge_weight)
