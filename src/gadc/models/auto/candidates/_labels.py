"""Label propagation: the known labels, diffused over the graph; features are not read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from gadc.diffusion import neumann, polynomial
from gadc.models._label_propagation import balance_classes
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates._candidate import Candidate, Reader
from gadc.models.auto.candidates._training import Nodes

GRID = [(8.0, 8), (8.0, 32), (64.0, 16), (64.0, 64)]  # pairs (λ, K)
_EVERYWHERE = 1e-6  # share of each class's mass that every node has, so that no probability is zero


class LabelsReader(Reader):
    """The known labels.

    Args:
        num_nodes: Number of nodes.
        num_classes: Number of classes.
        settings: The candidate.
    """

    known: Tensor

    def __init__(self, num_nodes: int, num_classes: int, settings: Labels) -> None:
        super().__init__()
        self.settings, self.num_classes = settings, num_classes
        self.register_buffer("known", torch.full((num_nodes,), -1, dtype=torch.int64))

    def forward(self, view: GraphView) -> Tensor:
        """Return log-probabilities of all nodes."""
        labels = one_hot(self.known.clamp(min=0), self.num_classes).float()
        labels = labels * (self.known >= 0).unsqueeze(1)
        series = neumann(self.settings.lam, self.settings.num_steps)
        mass = polynomial(view.operator("loops"), labels.to(view.operator("loops").dtype), series)
        prior = labels.mean(0, keepdim=True).to(mass.dtype)
        mass = balance_classes(mass) if self.settings.balance else mass
        total = mass.sum(1, keepdim=True)
        # A node that no label reaches has the shares of the labels.
        shares = torch.where(total > 0, mass / total.clamp(min=1e-30), prior / prior.sum())
        return (shares + _EVERYWHERE).log()


@dataclass(frozen=True, kw_only=True)
class Labels(Candidate):
    """Label propagation.

    Args:
        lam: Strength λ, 64 by default.
        num_steps: Number of hops K, 16 by default.
        balance: Divide the mass of each class by its sum, so that large classes do not absorb small ones;
            False by default.
    """

    kind: ClassVar[str] = "labels"
    own_graph_only: ClassVar[bool] = True
    lam: float = 64.0
    num_steps: int = 16
    balance: bool = False

    @property
    def words(self) -> str:
        """The candidate in words."""
        extra = ", balanced classes" if self.balance else ""
        return f"label propagation with λ = {self.lam:g}, K = {self.num_steps}{extra}"

    def build(self, view: GraphView, num_classes: int) -> LabelsReader:
        """Return a reader without labels."""
        return LabelsReader(view.num_nodes, num_classes, self)

    def train(self, reader: LabelsReader, view: GraphView, nodes: Nodes) -> None:
        """Remember the training labels."""
        reader.known[nodes.train] = nodes.y[nodes.train]
