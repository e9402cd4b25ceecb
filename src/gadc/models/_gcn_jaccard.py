"""GCN-Jaccard: edges between nodes that share few features are dropped, then a GCN.

H. Wu, C. Wang, Tyshetskiy, Docherty, Lu and Zhu, "Adversarial Examples for Graph Data: Deep Insights into
Attack and Defense", IJCAI 2019. The step is `gadc.transforms.Jaccard`:

    J_ij = |x_i ∧ x_j| / |x_i ∨ x_j|        the edge is dropped if J_ij < θ
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
    """GCN on the edges that remain.

    Args:
        threshold: Smallest similarity θ of an edge that is kept (default 0.01).

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.models import GCNJaccard
        >>> GCNJaccard(epochs=2).fit(csbm(60, num_features=4, seed=0)).logits.shape
        torch.Size([60, 2])
    """

    threshold: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        self.purifier()

    def purifier(self) -> Jaccard:
        """Return the purification that runs before the GCN."""
        return Jaccard(threshold=self.threshold)

    def graph(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> LinearOperator:
        """Return Â of the edges that remain."""
        pure = self.purifier()(Data(x=x, edge_index=edge_index, edge_weight=edge_weight))
        return super().graph(x, pure.edge_index, pure.edge_weight)
