"""Jaccard: an edge between nodes that share hardly any feature counts as planted by an attacker.

H. Wu, C. Wang, Tyshetskiy, Docherty, Lu and Zhu, "Adversarial Examples for Graph Data: Deep Insights into
Attack and Defense", IJCAI 2019.

    J_ij = |x_i ∧ x_j| / |x_i ∨ x_j|        on the non-zero patterns; the edge is dropped if J_ij < θ

The method is meant for binary features. Where rows have many non-zeros (TF-IDF), small thresholds drop hardly
any edge.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from gadc._base.scalars import check_number
from gadc.transforms.purification._edges import edge_jaccard, graph_of


@dataclass(frozen=True, kw_only=True)
class Jaccard(BaseTransform):  # type: ignore[misc]
    """Drop edges whose ends have dissimilar features; the other edges keep their weights and gradients.

    Args:
        threshold: Smallest similarity θ >= 0 of an edge that stays, 0.01 by default. Two rows without any
            feature have similarity 0. Self-loops always stay.

    Shapes:
        - `x`: (nodes, features)
        - `edge_index`: (2, edges) before, (2, kept edges) after

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from gadc.transforms import Jaccard
        >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
        >>> Jaccard()(Data(x=x, edge_index=torch.tensor([[0, 0], [1, 2]]))).edge_index
        tensor([[0],
                [2]])
    """

    threshold: float = 0.01

    def __post_init__(self) -> None:
        check_number("Jaccard", self.threshold, "threshold")

    def forward(self, data: Data) -> Data:
        """Replace the edges by the similar ones among them."""
        x, edge_index, edge_weight = graph_of("Jaccard", data)
        keep = (edge_jaccard(x.detach(), edge_index) >= self.threshold) | (edge_index[0] == edge_index[1])
        data.edge_index = edge_index[:, keep]
        if edge_weight is not None:
            data.edge_weight = edge_weight[keep]
        return data
