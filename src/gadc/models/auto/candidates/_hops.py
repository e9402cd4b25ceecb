"""A head over several hops of several operators at once.

    h_b = T_b^k X W_b,  rows of length 1, times the share softmax(a)_b;   scores = ReLU([h_1, h_2, ...]) W

Each hop has weights of its own, so the head can take differences between a node and its neighbours: this also
covers graphs whose neighbours differ. After FSGNN (Maurya, Liu and Murata, "Simplifying approach to node
classification in graph neural networks", 2022), with the operators of this library.

With `labels`, the hops of the known labels are blocks as well. A training node must not see its own label:
labels are split in two halves, and nodes of one half read the labels of the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, normalize, one_hot, pad

from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates._candidate import Candidate, Reader
from gadc.models.auto.candidates._training import Nodes, Schedule, train

_LABEL_HOPS = 3
_SECONDS = 2e-9  # per entry and column of a product
_WORDS = {
    "plain": "neighbours",
    "loops": "neighbours with self-loops",
    "out": "neighbours along the edges",
    "in": "neighbours against the edges",
    "cosine": "similar neighbours",
    "anchors": "most similar nodes",
}


class HopsReader(Reader):
    """The module of `Hops`.

    Args:
        num_blocks: Number of blocks.
        width: Number of columns of the widest block; narrower ones are filled with zeros.
        num_classes: Number of classes.
        settings: The candidate.
        num_nodes: Number of nodes, of which the known labels are kept; 0 without labels.
    """

    known: Tensor

    def __init__(
        self, num_blocks: int, width: int, num_classes: int, settings: Hops, num_nodes: int = 0
    ) -> None:
        super().__init__()
        self.settings, self.width = settings, width
        bound = 1 / math.sqrt(width)
        self.maps = nn.Parameter(torch.empty(num_blocks, width, settings.hidden).uniform_(-bound, bound))
        self.shares = nn.Parameter(torch.zeros(num_blocks))
        self.last = nn.Linear(settings.hidden * num_blocks, num_classes)
        self.register_buffer("known", torch.full((num_nodes,), -1, dtype=torch.int64))

    def forward(self, view: GraphView) -> Tensor:
        """Return the scores of all nodes; one block at a time, since all together may be large."""
        blocks = self.settings.blocks(view, self.known, self.last.out_features)
        hidden = [
            normalize(block @ weight[: block.shape[1]], dim=1)
            for block, weight in zip(blocks, self.maps, strict=True)
        ]
        return self._finish(torch.stack(hidden))

    def combine(self, blocks: Tensor) -> Tensor:
        """Return the scores of nodes whose blocks are given, shape (blocks, nodes, width)."""
        return self._finish(normalize(torch.bmm(blocks, self.maps), dim=2))

    def _finish(self, hidden: Tensor) -> Tensor:
        shares = self.shares.softmax(0) * len(self.shares)
        joined = (hidden * shares[:, None, None]).relu().transpose(0, 1).flatten(1)
        out: Tensor = self.last(dropout(joined, self.settings.dropout, self.training))
        return out


@dataclass(frozen=True, kw_only=True)
class Hops(Candidate):
    """A head over X and the hops of several operators.

    Args:
        operators: Names of the operators, see `GraphView`.
        num_hops: Number of hops of each operator, 3 by default.
        labels: Whether the hops of the known labels are read as well, False by default.
        hidden: Width of each block's map, 32 by default.
        dropout: Probability of dropout, 0.5 by default.
        weight_decay: Factor of the L2 penalty, 5e-4 by default.
    """

    kind: ClassVar[str] = "hops"
    operators: tuple[str, ...] = ("plain", "loops")
    num_hops: int = 3
    labels: bool = False
    hidden: int = 32
    dropout: float = 0.5
    weight_decay: float = 5e-4

    @property
    def own_graph_only(self) -> bool:  # type: ignore[override]
        """Whether it reads the labels of its own graph."""
        return self.labels

    @property
    def words(self) -> str:
        """The candidate in words."""
        names = ", ".join(_WORDS[name] for name in self.operators)
        extra = " and of the known labels" if self.labels else ""
        return f"a head over {self.num_hops} hops of the features{extra} ({names})"

    def blocks(self, view: GraphView, known: Tensor, num_classes: int) -> Iterator[Tensor]:
        """Yield X and the hops, one after another; then the hops of the known labels."""
        yield view.rows
        for name in self.operators:
            yield from view.hops(name, self.num_hops)
        if self.labels:
            yield from label_hops(view, known, num_classes)

    def forecast(self, view: GraphView, num_classes: int) -> float:
        """Return the seconds of a training, roughly: the hops, once for training and once for predicting."""
        entries = 2 * view.edge_index.shape[1] + view.num_nodes
        return _SECONDS * 2 * len(self.operators) * self.num_hops * entries * view.features.width

    def build(self, view: GraphView, num_classes: int) -> HopsReader:
        """Return an untrained reader."""
        count = 1 + len(self.operators) * self.num_hops + (_LABEL_HOPS if self.labels else 0)
        width = max(view.features.width, num_classes if self.labels else 0)
        return HopsReader(count, width, num_classes, self, view.num_nodes if self.labels else 0)

    def train(self, reader: HopsReader, view: GraphView, nodes: Nodes) -> None:
        """Train the head on labelled rows."""
        seen = torch.cat([nodes.train, nodes.validation])
        with torch.no_grad():
            plain = replace(self, labels=False)
            blocks = [one[seen] for one in plain.blocks(view, reader.known, nodes.num_classes)]
            if self.labels:
                blocks += [one[seen] for one in self._label_blocks(view, nodes)]
            joined = torch.stack([pad(one, (0, reader.width - one.shape[1])) for one in blocks])
        place = torch.zeros(view.num_nodes, dtype=torch.int64)
        place[seen] = torch.arange(len(seen))
        count = len(nodes.train)

        def scores(part: Tensor) -> Tensor:
            if part is nodes.train:
                return reader.combine(joined[:, :count])
            return reader.combine(joined[:, count:] if part is nodes.validation else joined[:, place[part]])

        reader.epochs = train(reader, scores, nodes, Schedule(lr=0.02, weight_decay=self.weight_decay))
        if self.labels:
            reader.known[nodes.train] = nodes.y[nodes.train]

    def _label_blocks(self, view: GraphView, nodes: Nodes) -> list[Tensor]:
        """Return hops of the labels for training: a training node never reads its own label."""
        order = nodes.train[torch.randperm(len(nodes.train))]
        halves = order[: len(order) // 2], order[len(order) // 2 :]
        full = _known(nodes.train, nodes.y, view.num_nodes)
        out = [one.clone() for one in label_hops(view, full, nodes.num_classes)]
        for readers, sources in (halves, halves[::-1]):
            known = _known(sources, nodes.y, view.num_nodes)
            for block, part in zip(out, label_hops(view, known, nodes.num_classes), strict=True):
                block[readers] = part[readers]
        return out


def label_hops(view: GraphView, known: Tensor, num_classes: int) -> Iterator[Tensor]:
    """Yield the hops of the one-hot labels, in shares of what has arrived at each node."""
    labels = one_hot(known.clamp(min=0), num_classes).to(view.rows.dtype) * (known >= 0).unsqueeze(1)
    operator = view.operator("plain")
    for _ in range(_LABEL_HOPS):
        labels = operator @ labels
        yield labels / labels.sum(1, keepdim=True).clamp(min=1e-12)


def _known(nodes: Tensor, y: Tensor, num_nodes: int) -> Tensor:
    known = torch.full((num_nodes,), -1, dtype=torch.int64)
    known[nodes] = y[nodes]
    return known
