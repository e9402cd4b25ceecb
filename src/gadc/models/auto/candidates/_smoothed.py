"""Correct and smooth: what another candidate predicts, corrected by its errors at labelled nodes.

    1. correct   the errors Y - P at labelled nodes are diffused and added to P
    2. smooth    labelled nodes take their labels, and the result is diffused

After Huang, He, Singh, Lim and Benson, "Combining label propagation and simple models out-performs graph
neural networks", ICLR 2021. The labels are those of the graph at hand, so other graphs are not classified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from gadc.diffusion import neumann, polynomial
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates._candidate import Candidate, Reader
from gadc.models.auto.candidates._training import Nodes


class SmoothedReader(Reader):
    """A reader and the known labels.

    Args:
        base: The reader that is corrected.
        num_nodes: Number of nodes.
        num_classes: Number of classes.
        settings: The candidate.
    """

    known: Tensor

    def __init__(self, base: Reader, num_nodes: int, num_classes: int, settings: Smoothed) -> None:
        super().__init__()
        self.base, self.settings, self.num_classes = base, settings, num_classes
        self.register_buffer("known", torch.full((num_nodes,), -1, dtype=torch.int64))

    def forward(self, view: GraphView) -> Tensor:
        """Return log-probabilities of all nodes."""
        return self.improve(self.base(view).softmax(1), view)

    def improve(self, proba: Tensor, view: GraphView) -> Tensor:
        """Correct and smooth the probabilities of the base."""
        labelled = (self.known >= 0).unsqueeze(1)
        truth = one_hot(self.known.clamp(min=0), self.num_classes).to(proba.dtype)
        operator, lam = view.operator("loops"), self.settings.lam
        series = neumann(lam, self.settings.num_steps)
        errors = torch.where(labelled, truth - proba, 0.0)
        spread = polynomial(operator, errors, series)
        size = errors.abs().sum() / labelled.sum().clamp(min=1)
        norms = spread.abs().sum(1, keepdim=True)
        spread = torch.where(norms > size, spread * (size / norms.clamp(min=1e-12)), spread)
        better = torch.where(labelled, truth, proba + spread)
        smooth = polynomial(operator, better, series).clamp(min=0)
        total = smooth.sum(1, keepdim=True)
        shares = torch.where(total > 0, smooth / total.clamp(min=1e-30), proba)
        return (shares + 1e-6).log()


@dataclass(frozen=True, kw_only=True)
class Smoothed(Candidate):
    """Another candidate, corrected and smoothed.

    Args:
        base: The candidate that is corrected.
        lam: Strength λ of both diffusions, 4 by default.
        num_steps: Number of hops K, 10 by default.
    """

    kind: ClassVar[str] = "smoothed"
    own_graph_only: ClassVar[bool] = True
    base: Any
    lam: float = 4.0
    num_steps: int = 10

    @property
    def words(self) -> str:
        """The candidate in words."""
        return f"{self.base.words}, corrected and smoothed by the known labels"

    def build(self, view: GraphView, num_classes: int) -> SmoothedReader:
        """Return an untrained reader."""
        return SmoothedReader(self.base.build(view, num_classes), view.num_nodes, num_classes, self)

    def train(self, reader: SmoothedReader, view: GraphView, nodes: Nodes) -> None:
        """Train the base and remember the training labels."""
        self.base.train(reader.base, view, nodes)
        self.remember(reader, nodes)

    def on_top_of(self, base: Reader, view: GraphView, nodes: Nodes) -> SmoothedReader:
        """Correct and smooth a reader that is trained already."""
        reader = SmoothedReader(base, view.num_nodes, nodes.num_classes, self)
        self.remember(reader, nodes)
        return reader.eval()

    def remember(self, reader: SmoothedReader, nodes: Nodes) -> None:
        """Take over the epochs of the base and the training labels."""
        reader.epochs = reader.base.epochs
        reader.known[nodes.train] = nodes.y[nodes.train]

    def to_dict(self) -> dict[str, Any]:
        """Return kind and settings in a form that JSON can hold."""
        return {"kind": self.kind, "base": self.base.to_dict(), "lam": self.lam, "num_steps": self.num_steps}
