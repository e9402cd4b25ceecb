"""The shape that all candidates share: settings that train a reader, and a reader that scores any graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates._training import Nodes

HEADS = {"linear": "a linear head", "mlp": "an MLP"}  # in words


class Reader(nn.Module, ABC):
    """A trained candidate.

    Attributes:
        epochs: Number of epochs after which the kept weights were found.
    """

    epochs: int = 0

    @abstractmethod
    def forward(self, view: GraphView) -> Tensor:
        """Return the scores of all nodes, whose softmax are probabilities; shape (n, classes)."""


@dataclass(frozen=True, kw_only=True)
class Candidate(ABC):
    """Settings of a candidate; subclasses are dataclasses whose fields JSON can hold.

    Attributes:
        kind: Name of the kind of candidate.
        family: Name under which the report and the explanation group candidates.
        own_graph_only: Whether it reads the labels of its own graph, so that it cannot answer for others.
    """

    kind: ClassVar[str]
    own_graph_only: ClassVar[bool] = False

    @property
    def family(self) -> str:
        """Name under which candidates are grouped."""
        return self.kind

    @property
    @abstractmethod
    def words(self) -> str:
        """The candidate in words."""

    def forecast(self, view: GraphView, num_classes: int) -> float:
        """Return the seconds of a training, roughly; 0 if it takes no time worth a forecast."""
        return 0.0

    @abstractmethod
    def build(self, view: GraphView, num_classes: int) -> Reader:
        """Return an untrained reader."""

    @abstractmethod
    def train(self, reader: Any, view: GraphView, nodes: Nodes) -> None:
        """Train a reader in place."""

    def fit(self, view: GraphView, nodes: Nodes) -> Reader:
        """Build and train a reader; torch's global random numbers are left as they were."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(nodes.seed)
            reader = self.build(view, nodes.num_classes)
            self.train(reader, view, nodes)
        return reader.eval()

    def to_dict(self) -> dict[str, Any]:
        """Return kind and settings in a form that JSON can hold."""
        return {"kind": self.kind, **asdict(self)}
