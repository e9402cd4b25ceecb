"""A graph as candidates read it: features of few columns, operators by name, and hops T^k X.

Operators, by name:

    plain      Â without self-loops
    loops      Â with self-loops
    out, in    rows of the directed graph divided by their sums, along the edges and against them
    cosine     edges weighted by the cosine of their ends, rows divided by their sums (IV, normalised)
    anchors    the nodes most similar by features, and no edge at all (IV+ without edges)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

import torch
from torch import Tensor

from gadc.diffusion import AnchoredCosine, Plain
from gadc.models.auto._features import FeatureMap, Features, read_sparse
from gadc.operators import LinearOperator

OPERATORS = ("plain", "loops", "out", "in", "cosine", "anchors")
_KEPT = 1_000_000  # entries of diffused features that are kept per candidate
_ANCHORS = 10  # neighbours of each node in the anchor graph


class GraphView:
    """One graph in single precision, with what was computed of it so far.

    Args:
        x: Features X, shape (n, d); dense, or sparse in the CSR layout.
        edge_index: Edges, shape (2, m).
        edge_weight: Weights of the edges, shape (m,), or None.
        features: The map from X to the features that candidates read.
        directed: See `gadc.transition`.
    """

    def __init__(
        self,
        x: Tensor | Features,
        edge_index: Tensor,
        edge_weight: Tensor | None,
        features: FeatureMap,
        *,
        directed: bool = False,
    ) -> None:
        self.x: Features = read_sparse(x) if isinstance(x, Tensor) else x
        self.edge_index, self.directed = edge_index, directed
        self.edge_weight = None if edge_weight is None else edge_weight.float()
        self.features = features
        self._rows: Tensor | None = None
        self._prepared: Features | None = None
        self._operators: dict[str, LinearOperator] = {}
        self._diffused: dict[Hashable, Tensor] = {}

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.x)

    @property
    def prepared(self) -> Features:
        """X in one unit, with all its columns."""
        if self._prepared is None:
            self._prepared = self.features.prepared(self.x)
        return self._prepared

    @property
    def rows(self) -> Tensor:
        """The dense features of few columns."""
        if self._rows is None:
            self._rows = self.features(self.x)
        return self._rows

    def operator(self, name: str) -> LinearOperator:
        """Return an operator by its name, built once."""
        if name not in self._operators:
            self._operators[name] = self._build(name)
        return self._operators[name]

    def hops(self, name: str, count: int) -> Iterator[Tensor]:
        """Yield T X, T² X, ... of an operator."""
        operator, power = self.operator(name), self.rows
        for _ in range(count):
            power = operator @ power
            yield power

    def diffused(self, key: Hashable, compute: Callable[[], Tensor]) -> Tensor:
        """Return features that `key` names, which are kept on small graphs while no gradient is asked for."""
        if torch.is_grad_enabled() or self.num_nodes * self.features.width > _KEPT:
            return compute()
        if key not in self._diffused:
            self._diffused[key] = compute()
        return self._diffused[key]

    def _build(self, name: str) -> LinearOperator:
        edges, weights = self.edge_index, self.edge_weight
        if name == "cosine":
            build = AnchoredCosine(anchor=0.0, directed=self.directed, self_loops=0.0)
            return build(self.rows, edges, weights)
        if name == "anchors":
            none = edges[:, :0]
            return AnchoredCosine(neighbors=_ANCHORS, self_loops=0.0)(self.rows.detach(), none, None)
        if name in ("out", "in"):
            ends = edges if name == "out" else edges.flip(0)
            return Plain(norm="rw", directed=True, self_loops=0.0)(self.rows, ends, weights)
        loops = 1.0 if name == "loops" else 0.0
        return Plain(self_loops=loops, directed=self.directed)(self.rows, edges, weights)


def is_directed(edge_index: Tensor, num_nodes: int) -> bool:
    """Whether edges are listed in one direction more often than in both."""
    keys = edge_index[0] * num_nodes + edge_index[1]
    back = edge_index[1] * num_nodes + edge_index[0]
    return bool(torch.isin(keys, back).double().mean() < 0.5) if keys.numel() else False
