"""The part of a graph that the scores of some nodes depend on: all that a training step on them needs.

After h layers a node has heard of its h-hop neighbourhood. With few labels that is a fraction of the graph,
and a step over it is exact: the entries of rows within h - 1 hops are all there, and nobody asks the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gadc._base.pairs import edge_keys
from gadc.models._fast.sparse_features import SparseFeatures
from gadc.operators import LinearOperator
from gadc.operators._pattern import SparsePattern

WORTHWHILE = 0.66  # share of the nodes up to which the copy of their features pays


@dataclass(frozen=True)
class ReceptiveField:
    """Features and graph of some nodes, and where the asked ones are among them."""

    features: Tensor | SparseFeatures
    graph: LinearOperator
    asked: Tensor


def receptive_field(
    asked: Tensor, features: Tensor | SparseFeatures, graph: LinearOperator, hops: int | None
) -> ReceptiveField:
    """What `hops` rounds over `graph` need for the nodes of the mask `asked`.

    It is the whole graph where that is little more, where `hops` is None, and where a low-rank part joins
    every node to every other.
    """
    if hops is not None and graph.left is None:
        nodes = _within(asked, graph.pattern, hops)
        if int(nodes.sum()) <= WORTHWHILE * len(nodes):
            return ReceptiveField(features[nodes], _among(nodes, graph), _places(asked[nodes]))
    return ReceptiveField(features, graph, _places(asked))


def _within(nodes: Tensor, pattern: SparsePattern, hops: int) -> Tensor:
    rows, cols = pattern.rows.long(), pattern.cols.long()
    for _ in range(hops):
        nodes = nodes.index_fill(0, cols[nodes[rows]], True)
    return nodes


def _among(nodes: Tensor, graph: LinearOperator) -> LinearOperator:
    """The entries between these nodes."""
    rows, cols = graph.pattern.rows.long(), graph.pattern.cols.long()
    kept = nodes[rows] & nodes[cols]
    place, count = nodes.cumsum(0) - 1, int(nodes.sum())
    keys = edge_keys((place[rows[kept]], place[cols[kept]]), count)
    pattern = SparsePattern.from_keys(keys, count, count, symmetric=graph.pattern.symmetric)
    return LinearOperator(pattern, graph.values[kept], symmetric=graph.symmetric)


def _places(mask: Tensor) -> Tensor:
    return torch.nonzero(mask).squeeze(1)
