"""The nodes that are certified, and the certificate made of what was found for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from gadc.robustness.attacks._nodes import check_labelled_nodes
from gadc.robustness.certificates._certificate import Certificate


@dataclass(frozen=True, eq=False)
class Tested:
    """Checked node numbers and their labels.

    Attributes:
        nodes: Node numbers, shape (k,).
        labels: Their labels, shape (k,).
    """

    nodes: Tensor
    labels: Tensor

    @classmethod
    def of(cls, owner: str, nodes: Tensor, y: Tensor) -> Tested:
        """Check node numbers: at least one, in range, each with a label."""
        nodes = check_labelled_nodes(owner, nodes, Data(y=y, num_nodes=len(y)))
        return cls(nodes, y[nodes])

    def certificate(self, *, predicted: Tensor, **fields: Any) -> Certificate:
        """Make the certificate of these nodes."""
        return Certificate(nodes=self.nodes, predicted=predicted, correct=predicted == self.labels, **fields)


def margins_over(scores: Tensor, predicted: Tensor, other: int) -> Tensor:
    """Return by how much the score of the predicted class exceeds the score of another class, shape (k,)."""
    return scores.gather(1, predicted.unsqueeze(1)).squeeze(1) - scores[:, other]
