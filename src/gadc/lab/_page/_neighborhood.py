"""The neighbours of one or two nodes, few enough to be drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gadc._base.pairs import undirected_keys
from gadc.lab._view import GraphView, Integers

SHOWN = 12  # neighbours of each end, and shared neighbours


@dataclass(frozen=True, kw_only=True)
class Neighborhood:
    """What is drawn of the neighbourhood of an item.

    Attributes:
        ends: The node, or the two nodes, in question.
        own: Neighbours that each end has for itself, at most 12 each.
        shared: Neighbours of both ends, at most 12.
        hidden: Number of neighbours of each end's own that are not drawn.
        hidden_shared: Number of shared neighbours that are not drawn.
        linked: Whether the two ends have an edge.
    """

    ends: tuple[int, ...]
    own: tuple[list[int], ...]
    shared: list[int]
    hidden: tuple[int, ...]
    hidden_shared: int
    linked: bool

    @property
    def around(self) -> list[int]:
        """All drawn nodes but the ends."""
        return [node for nodes in (*self.own, self.shared) for node in nodes]


class Weights:
    """The weights of the edges at some nodes, of both directions the larger one.

    Args:
        view: The graph.
        nodes: Nodes whose edges are kept, so that a large graph is gone through once.
    """

    def __init__(self, view: GraphView, nodes: Integers) -> None:
        self._num_nodes = view.num_nodes
        self._keys: Integers = np.zeros(0, dtype=np.int64)
        self._values: NDArray[np.float64] = np.zeros(0)
        weight = view.data.get("edge_weight")
        if weight is None or not len(nodes):
            return
        ends = view.data.edge_index.cpu().numpy()
        wanted = np.zeros(view.num_nodes, dtype=bool)
        wanted[nodes] = True
        kept = wanted[ends[0]] | wanted[ends[1]]
        keys = undirected_keys(ends[:, kept], view.num_nodes)
        values = np.abs(weight.detach().cpu().numpy()[kept].astype(np.float64))
        order = np.lexsort((-values, keys))
        self._keys, first = np.unique(keys[order], return_index=True)
        self._values = values[order][first]

    def of(self, node: int, others: Integers) -> NDArray[np.float64]:
        """Return the size of the weight of each edge from a node; 1 if the graph has no weights."""
        if not len(self._keys) or not len(others):
            return np.ones(len(others))
        keys = undirected_keys((np.full(len(others), node), others), self._num_nodes)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[place] == keys, self._values[place], 1.0)


def neighborhood(view: GraphView, ends: tuple[int, ...], weights: Weights) -> Neighborhood:
    """Choose the neighbours to draw: heavy edges first, then neighbours with few edges of their own."""
    near = [np.setdiff1d(neighbors_of(view, end), ends) for end in ends]
    shared = np.intersect1d(near[0], near[-1]) if len(ends) == 2 else np.zeros(0, dtype=np.int64)
    own = [np.setdiff1d(nodes, shared) for nodes in near]
    chosen = tuple(_first(view, nodes, weights.of(end, nodes)) for end, nodes in zip(ends, own, strict=True))
    total = sum((weights.of(end, shared) for end in ends), np.zeros(len(shared)))
    return Neighborhood(
        ends=ends,
        own=chosen,
        shared=_first(view, shared, total),
        hidden=tuple(max(0, len(nodes) - SHOWN) for nodes in own),
        hidden_shared=max(0, len(shared) - SHOWN),
        linked=len(ends) == 2 and bool(np.isin(ends[1], neighbors_of(view, ends[0]))),
    )


def neighbors_of(view: GraphView, node: int) -> Integers:
    """Return the neighbours of a node, sorted."""
    graph = view.adjacency
    return np.sort(graph.indices[graph.indptr[node] : graph.indptr[node + 1]]).astype(np.int64)


def links_among(view: GraphView, nodes: list[int], most: int) -> list[tuple[int, int]]:
    """List the edges between nodes as places in their list, at most so many."""
    if not nodes:
        return []
    among = view.adjacency[np.array(nodes)][:, np.array(nodes)].tocoo()
    pairs = sorted({(int(i), int(j)) for i, j in zip(among.row, among.col, strict=True) if i < j})
    return pairs[:most]


def _first(view: GraphView, nodes: Integers, weight: NDArray[np.float64]) -> list[int]:
    order = np.lexsort((nodes, view.degree[nodes], -weight))
    return [int(node) for node in nodes[order[:SHOWN]]]
