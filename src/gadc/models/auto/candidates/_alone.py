"""The control without a graph: a linear model or an MLP on the features alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from gadc.models._fast.sparse_features import SparseFeatures
from gadc.models._training.heads import build_head
from gadc.models.auto._features import Features, len_columns
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates._candidate import HEADS, Candidate, Reader
from gadc.models.auto.candidates._training import Nodes, Schedule, train
from gadc.operators import SparsePattern


class HeadReader(Reader):
    """A head on the features of each node.

    Args:
        width: Number of features.
        num_classes: Number of classes.
        head: "linear" or "mlp".
        hidden: Width of the hidden layer of an MLP.
        dropout: Probability of dropout.
    """

    def __init__(self, width: int, num_classes: int, head: str, hidden: int, dropout: float) -> None:
        super().__init__()
        self.head = build_head(head, width, num_classes, hidden=hidden, dropout=dropout)

    def forward(self, view: GraphView) -> Tensor:
        """Return the scores of all nodes."""
        out: Tensor = self.head(view.prepared)
        return out


@dataclass(frozen=True, kw_only=True)
class Alone(Candidate):
    """A head on the features alone.

    Args:
        head: "linear" (default) or "mlp".
        hidden: Width of the hidden layer of an MLP, 64 by default.
        dropout: Probability of dropout, 0.5 by default.
        weight_decay: Factor of the L2 penalty, 5e-4 by default.
    """

    kind: ClassVar[str] = "none"
    head: str = "linear"
    hidden: int = 64
    dropout: float = 0.5
    weight_decay: float = 5e-4

    @property
    def words(self) -> str:
        """The candidate in words."""
        return f"the features alone with {HEADS[self.head]}"

    def build(self, view: GraphView, num_classes: int) -> HeadReader:
        """Return an untrained reader."""
        return HeadReader(len_columns(view.prepared), num_classes, self.head, self.hidden, self.dropout)

    def train(self, reader: HeadReader, view: GraphView, nodes: Nodes) -> None:
        """Train the head on labelled rows."""
        rows = RowReader(view.prepared, torch.cat([nodes.train, nodes.validation]))
        schedule = Schedule(weight_decay=self.weight_decay, lr=0.05 if self.head == "linear" else 0.01)
        sparse = isinstance(view.prepared, SparseFeatures)  # a step with all rows costs little
        reader.epochs = train(
            reader.head, lambda part: reader.head(rows[part]), nodes, schedule, whole=sparse
        )


class RowReader:
    """Rows of a matrix by node number, where the rows of a few nodes are read again and again."""

    def __init__(self, x: Features, nodes: Tensor) -> None:
        self.nodes = nodes.sort().values
        if isinstance(x, SparseFeatures):
            mask = torch.zeros(len(x), dtype=torch.bool)
            mask[self.nodes] = True
            self.rows: Features = x[mask]
        else:
            self.rows = x[self.nodes]
        self._kept: list[tuple[Tensor, SparseFeatures]] = []

    def __getitem__(self, part: Tensor) -> Features:
        where = torch.searchsorted(self.nodes, part)
        if isinstance(self.rows, Tensor):
            return self.rows[where]
        for known, rows in self._kept:
            if known is part:  # training asks for the same two parts in every epoch
                return rows
        self._kept = [*self._kept[-1:], (part, _sparse_rows(self.rows, where))]
        return self._kept[-1][1]


def _sparse_rows(x: SparseFeatures, where: Tensor) -> SparseFeatures:
    """Return sparse rows in the given order."""
    counts = torch.bincount(x.pattern.rows.long(), minlength=len(x))
    starts = torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)])
    sizes = counts[where]
    out_rows = torch.repeat_interleave(torch.arange(len(where)), sizes)
    offset = torch.arange(len(out_rows)) - torch.repeat_interleave(sizes.cumsum(0) - sizes, sizes)
    entries = torch.repeat_interleave(starts[where], sizes) + offset
    pattern = SparsePattern.from_entries(out_rows, x.pattern.cols[entries], len(where), x.pattern.num_cols)
    return SparseFeatures(pattern, x.values[entries])
