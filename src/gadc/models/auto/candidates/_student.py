"""A student that reads no edges: an MLP on X that imitates a teacher which reads them.

No change of edges after training can move it. After Zhang, Liu, Sun and Shah, "Graph-less neural networks",
ICLR 2022. It learns from the teacher's probabilities at all nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from gadc.models.auto._features import len_columns
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates._alone import HeadReader, RowReader
from gadc.models.auto.candidates._candidate import Candidate
from gadc.models.auto.candidates._training import Nodes

_MOST_NODES = 20_000  # that the student is taught
_EPOCHS = 60
_SECONDS = 2e-10  # per multiplication


@dataclass(frozen=True, kw_only=True)
class Student(Candidate):
    """An MLP on X that imitates another candidate.

    Args:
        teacher: The candidate that is imitated.
        hidden: Width of the hidden layer, 64 by default.
        dropout: Probability of dropout, 0.5 by default.
    """

    kind: ClassVar[str] = "student"
    teacher: Any
    hidden: int = 64
    dropout: float = 0.5

    @property
    def words(self) -> str:
        """The candidate in words."""
        return f"an MLP that reads no edges and imitates {self.teacher.words}"

    def forecast(self, view: GraphView, num_classes: int) -> float:
        """Return the seconds of a training, roughly: the teacher's, and the first layer of the student."""
        x = view.prepared
        entries = x.numel() if isinstance(x, Tensor) else x.pattern.nnz
        share = min(1.0, _MOST_NODES / view.num_nodes)
        own = _SECONDS * _EPOCHS * 3 * share * entries * self.hidden
        return own + float(self.teacher.forecast(view, num_classes))

    def build(self, view: GraphView, num_classes: int) -> HeadReader:
        """Return an untrained reader."""
        return HeadReader(len_columns(view.prepared), num_classes, "mlp", self.hidden, self.dropout)

    def train(self, reader: HeadReader, view: GraphView, nodes: Nodes) -> None:
        """Train the teacher, then the student."""
        teacher = self.teacher.fit(view, nodes)
        with torch.no_grad():
            lesson = teacher(view).softmax(1)
        self.teach(reader, view, nodes, lesson)
        reader.epochs = teacher.epochs

    def teach(self, reader: HeadReader, view: GraphView, nodes: Nodes, lesson: Tensor) -> None:
        """Train the student on the teacher's probabilities; labelled nodes keep their labels."""
        lesson = lesson.clone()
        lesson[nodes.train] = torch.eye(nodes.num_classes, dtype=lesson.dtype)[nodes.y[nodes.train]]
        order = torch.randperm(view.num_nodes)[:_MOST_NODES].sort().values
        rows = RowReader(view.prepared, order)[order]
        optimizer = torch.optim.Adam(reader.parameters(), lr=0.01, weight_decay=1e-4)
        reader.train()
        for _ in range(_EPOCHS):
            optimizer.zero_grad()
            cross_entropy(reader.head(rows), lesson[order]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    def to_dict(self) -> dict[str, Any]:
        """Return kind and settings in a form that JSON can hold."""
        return {
            "kind": self.kind,
            "teacher": self.teacher.to_dict(),
            "hidden": self.hidden,
            "dropout": self.dropout,
        }
