"""A head that reads which nodes a node is linked to, beside its features and two hops of them.

    h_0 = Â W_0,   h_b = Â^(b-1) X W_b,   rows of length 1;      scores = ReLU([h_0, h_1, h_2, h_3]) W

Row i of Â W_0 is a mean over weights that belong to the neighbours of i, one row of weights per node: nodes
with common neighbours get similar scores, whatever the classes of these neighbours are. After LINKX (Lim et
al., "Large scale learning on non-homophilous graphs", NeurIPS 2021). The weights belong to the nodes of one
graph, so other graphs are not classified.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, normalize

from gadc.models._fast.sparse_features import SparseFeatures
from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates._alone import RowReader
from gadc.models.auto.candidates._candidate import Candidate, Reader
from gadc.models.auto.candidates._training import Nodes, Schedule, train

_HOPS = 2  # of the features
_MOST_WEIGHTS = 2e7  # one row per node; Adam keeps three further numbers per weight
_SECONDS = 2e-9  # per entry and column of a product


class LinksReader(Reader):
    """The module of `Links`.

    Args:
        num_nodes: Number of nodes.
        width: Number of features.
        num_classes: Number of classes.
        settings: The candidate.
    """

    def __init__(self, num_nodes: int, width: int, num_classes: int, settings: Links) -> None:
        super().__init__()
        self.settings = settings
        self.weights = nn.Parameter(torch.randn(num_nodes, settings.hidden) / math.sqrt(max(1, num_nodes)))
        self.maps = nn.ModuleList(nn.Linear(width, settings.hidden) for _ in range(1 + _HOPS))
        self.last = nn.Linear((2 + _HOPS) * settings.hidden, num_classes)

    def forward(self, view: GraphView) -> Tensor:
        """Return the scores of all nodes."""
        return self.combine(view.operator("plain") @ self.weights, feature_hops(view))

    def combine(self, linked: Tensor, blocks: Iterator[Tensor] | list[Tensor]) -> Tensor:
        """Return the scores of nodes, given their rows of Â W_0 and of the hops of the features."""
        hidden = [linked, *(one(block) for one, block in zip(self.maps, blocks, strict=True))]
        joined = torch.cat([normalize(one, dim=1) for one in hidden], dim=1).relu()
        out: Tensor = self.last(dropout(joined, self.settings.dropout, self.training))
        return out


@dataclass(frozen=True, kw_only=True)
class Links(Candidate):
    """A head on the links of each node and on two hops of the features.

    Args:
        hidden: Width of each block, 64 by default.
        dropout: Probability of dropout, 0.5 by default.
        weight_decay: Factor of the L2 penalty, 5e-4 by default.
    """

    kind: ClassVar[str] = "links"
    own_graph_only: ClassVar[bool] = True
    hidden: int = 64
    dropout: float = 0.5
    weight_decay: float = 5e-4

    @property
    def words(self) -> str:
        """The candidate in words."""
        return "a head that reads to which nodes a node is linked"

    def forecast(self, view: GraphView, num_classes: int) -> float:
        """Return the seconds of a training, roughly; no limit is long enough for more weights than fit."""
        if view.num_nodes * self.hidden > _MOST_WEIGHTS:
            return math.inf
        entries = 2 * view.edge_index.shape[1] + view.num_nodes
        return 1.0 + _SECONDS * entries * (2 * _HOPS * view.features.width + self.hidden)

    def build(self, view: GraphView, num_classes: int) -> LinksReader:
        """Return an untrained reader."""
        return LinksReader(view.num_nodes, view.features.width, num_classes, self)

    def train(self, reader: LinksReader, view: GraphView, nodes: Nodes) -> None:
        """Train on labelled rows."""
        seen = torch.cat([nodes.train, nodes.validation])
        plain = view.operator("plain")
        links = RowReader(SparseFeatures(plain.pattern, plain.values), seen)
        with torch.no_grad():
            blocks = [block[seen] for block in feature_hops(view)]
        count = len(nodes.train)
        rows = {
            True: [block[:count] for block in blocks],
            False: [block[count:] for block in blocks],
        }

        def scores(part: Tensor) -> Tensor:
            return reader.combine(links[part] @ reader.weights, rows[part is nodes.train])

        schedule = Schedule(weight_decay=self.weight_decay, patience=30, calibrated=True)
        reader.epochs = train(reader, scores, nodes, schedule, whole=True)


def feature_hops(view: GraphView) -> Iterator[Tensor]:
    """Yield X, Â X and Â² X."""
    yield view.rows
    yield from view.hops("plain", _HOPS)
