"""Predict, then propagate: a head on X, whose scores are diffused over the graph, trained jointly.

    scores = S h(X),    S = 1/(λ+1) Σ (λ/(λ+1) T)^k

With a linear head this is exactly the linear model on S X, since S (X W) = (S X) W: wide sparse features are
never diffused. After APPNP (Gasteiger, Bojchevski and Günnemann, ICLR 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from gadc.diffusion import neumann, polynomial
from gadc.models._training.heads import build_head
from gadc.models.auto._features import len_columns
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates._candidate import HEADS, Candidate, Reader
from gadc.models.auto.candidates._training import Nodes, Schedule, train

_EPOCHS = 150  # until training usually stops
_MOST_ENTRIES = 4_000_000  # of the rows of S at labelled nodes
_SECONDS = 4e-9  # per entry and column of a product


class PropagatedReader(Reader):
    """The module of `Propagated`.

    Args:
        width: Number of features.
        num_classes: Number of classes.
        settings: The candidate.
    """

    def __init__(self, width: int, num_classes: int, settings: Propagated) -> None:
        super().__init__()
        self.settings = settings
        self.head = build_head(
            settings.head, width, num_classes, hidden=settings.hidden, dropout=settings.dropout
        )

    def forward(self, view: GraphView) -> Tensor:
        """Return the scores of all nodes."""
        series = neumann(self.settings.lam, self.settings.num_steps)
        return polynomial(view.operator(self.settings.operator), self.head(view.prepared), series)


@dataclass(frozen=True, kw_only=True)
class Propagated(Candidate):
    """A head on X, whose scores are diffused.

    Args:
        operator: Name of the operator, see `GraphView`; "loops" by default.
        lam: Strength λ, 9 by default, which is a restart of 0.1.
        num_steps: Number of hops K, 10 by default.
        head: "linear" or "mlp" (default).
        hidden: Width of the hidden layer of an MLP, 64 by default.
        dropout: Probability of dropout, 0.5 by default.
        weight_decay: Factor of the L2 penalty, 5e-4 by default.
    """

    kind: ClassVar[str] = "propagated"
    operator: str = "loops"
    lam: float = 9.0
    num_steps: int = 10
    head: str = "mlp"
    hidden: int = 64
    dropout: float = 0.5
    weight_decay: float = 5e-4

    @property
    def words(self) -> str:
        """The candidate in words."""
        return f"{HEADS[self.head]} whose scores are diffused (λ = {self.lam:g}, K = {self.num_steps})"

    def forecast(self, view: GraphView, num_classes: int) -> float:
        """Return the seconds of a training, roughly: its products with the graph."""
        entries = view.operator(self.operator).pattern.nnz  # unless the rows of S are kept
        return 1.0 + _SECONDS * _EPOCHS * 2 * self.num_steps * entries * num_classes

    def build(self, view: GraphView, num_classes: int) -> PropagatedReader:
        """Return an untrained reader."""
        return PropagatedReader(len_columns(view.prepared), num_classes, self)

    def train(self, reader: PropagatedReader, view: GraphView, nodes: Nodes) -> None:
        """Train head and diffusion jointly, with all nodes in every step."""
        rate = 0.05 if self.head == "linear" else 0.01
        schedule = Schedule(lr=rate, weight_decay=self.weight_decay, epochs=_EPOCHS, patience=20)
        seen = torch.cat([nodes.train, nodes.validation])
        if len(seen) * view.num_nodes > _MOST_ENTRIES:
            reader.epochs = train(reader, lambda part: reader(view)[part], nodes, schedule, whole=True)
            return
        rows = self._rows_of_s(view, seen)
        parts = {True: rows[: len(nodes.train)], False: rows[len(nodes.train) :]}

        def scores(part: Tensor) -> Tensor:
            out: Tensor = parts[part is nodes.train] @ reader.head(view.prepared)
            return out

        reader.epochs = train(reader, scores, nodes, schedule, whole=True)

    @torch.no_grad()
    def _rows_of_s(self, view: GraphView, nodes: Tensor) -> Tensor:
        """Return the rows of S at some nodes: one product with them replaces 2 K sparse ones per epoch."""
        columns = torch.zeros((view.num_nodes, len(nodes)))
        columns[nodes, torch.arange(len(nodes))] = 1.0
        operator = view.operator(self.operator).T
        return polynomial(operator, columns, neumann(self.lam, self.num_steps)).T.contiguous()
