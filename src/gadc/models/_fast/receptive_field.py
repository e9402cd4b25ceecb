"""The part of a graph that the scores of some nodes depend on: all that a training step on them needs.

After h layers a node depends on its h-hop neighbourhood. With few labels this is a fraction of the graph, and
a step over it is exact: it holds every entry of the rows within h - 1 hops, and no other rows are needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gadc._base.pairs import edge_keys
from gadc.models._fast.sparse_features import SparseFeatures
from gadc.operators import LinearOperator, SparsePattern

WORTHWHILE = 0.66  # share of the nodes up to which a copy of their features pays


@dataclass(frozen=True)
class ReceptiveField:
    """Some nodes of a graph, with renumbered edges between them.

    Attributes:
        features: Features of these nodes.
        graph: Operator of the edges between them.
        targets: Positions of the target nodes among them.
    """

    features: Tensor | SparseFeatures
    graph: LinearOperator
    targets: Tensor


def receptive_field(
    targets: Tensor, features: Tensor | SparseFeatures, graph: LinearOperator, hops: int | None
) -> ReceptiveField:
    """Return the part of `graph` within `hops` hops of the target nodes.

    The whole graph is returned if that part is nearly as large, if `hops` is None, and if a low-rank part of
    the operator connects every pair of nodes.

    Args:
        targets: Mask of the target nodes, shape (n,).
        features: Features of all nodes.
        graph: Operator of all edges.
        hops: Number of hops; None stands for any number.
    """
    if hops is not None and graph.left is None:
        nodes = _within(targets, graph.pattern, hops)
        if int(nodes.sum()) <= WORTHWHILE * len(nodes):
            return ReceptiveField(features[nodes], _among(nodes, graph), _positions(targets[nodes]))
    return ReceptiveField(features, graph, _positions(targets))


def _within(nodes: Tensor, pattern: SparsePattern, hops: int) -> Tensor:
    """Return the mask of all nodes within so many hops of a mask of nodes."""
    rows, cols = pattern.rows.long(), pattern.cols.long()
    for _ in range(hops):
        nodes = nodes.index_fill(0, cols[nodes[rows]], True)
    return nodes


def _among(nodes: Tensor, graph: LinearOperator) -> LinearOperator:
    """Return the operator of the entries between the nodes of a mask, which are renumbered."""
    rows, cols = graph.pattern.rows.long(), graph.pattern.cols.long()
    kept = nodes[rows] & nodes[cols]
    position, count = nodes.cumsum(0) - 1, int(nodes.sum())
    keys = edge_keys((position[rows[kept]], position[cols[kept]]), count)
    pattern = SparsePattern.from_keys(keys, count, count, symmetric=graph.pattern.symmetric)
    return LinearOperator(pattern, graph.values[kept], symmetric=graph.symmetric)


def _positions(mask: Tensor) -> Tensor:
    return torch.nonzero(mask).squeeze(1)
