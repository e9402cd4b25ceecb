"""Jaccard: an edge between nodes that share hardly a feature is taken for planted.

H. Wu, C. Wang, Tyshetskiy, Docherty, Lu and Zhu, "Adversarial Examples for Graph Data: Deep Insights into
Attack and Defense", IJCAI 2019.

    J_ij = |x_i ∧ x_j| / |x_i ∨ x_j|        on the non-zero patterns; the edge goes if J_ij < θ

Meant for binary features: where rows have many non-zeros (TF-IDF), small thresholds remove next to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_geometric.data import Data

from gadc._base.validation import check_number
from gadc.transforms.purification._edges import edge_jaccard, graph_of, with_graph


@dataclass(frozen=True, kw_only=True)
class Jaccard:
    """Drops dissimilar edges; weights of the others stay, with their gradient.

    Args:
        threshold: θ. Edges of similarity θ stay; two empty rows have similarity 0. Loops stay as they are.
    """

    threshold: float = 0.01

    def __post_init__(self) -> None:
        check_number("Jaccard", self.threshold, "threshold")

    def __call__(self, data: Data) -> Data:
        """A copy with fewer edges."""
        x, edge_index, edge_weight = graph_of("Jaccard", data)
        keep = (edge_jaccard(x.detach(), edge_index) >= self.threshold) | (edge_index[0] == edge_index[1])
        changes = {"edge_index": edge_index[:, keep]}
        if edge_weight is not None:
            changes["edge_weight"] = edge_weight[keep]
        return with_graph(data, **changes)
