"""Facts about a packed graph, from mapped arrays and from a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from gadc.packed._graph import PackedGraph

_ENTRIES_AT_ONCE = 2**24


def statistics(graph: PackedGraph) -> dict[str, Any]:
    """Measure a packed graph as `gadc.datasets.graph_statistics` does, without reading it as a whole."""
    counts = np.diff(graph.row_ptr)
    facts: dict[str, Any] = {
        "nodes": graph.num_nodes,
        "features": graph.num_features,
        "edges": graph.num_edges,
        "isolated_nodes": int((counts == 0).sum()),
        "mean_degree": float(counts.mean()),
        "max_degree": int(counts.max()),
    }
    if graph.labels is None or graph.class_names is None:
        return facts
    labels = np.asarray(graph.labels)
    sizes = np.bincount(labels[labels >= 0], minlength=len(graph.class_names)).tolist()
    return facts | {
        "classes": dict(zip(map(str, graph.class_names), sizes, strict=True)),
        "unlabelled": int((labels < 0).sum()),
        "homophily": _homophily(graph, labels),
    }


def _homophily(graph: PackedGraph, labels: Any) -> float | None:
    """Compute the share of the edges between labelled nodes that join one class, some rows at a time."""
    same = both = 0
    for first, last in _row_blocks(graph):
        start, stop = int(graph.row_ptr[first]), int(graph.row_ptr[last])
        rows = np.repeat(np.arange(first, last), np.diff(graph.row_ptr[first : last + 1]))
        u, v = labels[rows], labels[graph.cols[start:stop]]
        known = (u >= 0) & (v >= 0)
        both += int(known.sum())
        same += int((known & (u == v)).sum())
    return same / both if both else None


def _row_blocks(graph: PackedGraph) -> list[tuple[int, int]]:
    """Divide the rows so that each block has a bounded number of entries, unless it is one row."""
    blocks, first = list[tuple[int, int]](), 0
    while first < graph.num_nodes:
        limit = int(graph.row_ptr[first]) + _ENTRIES_AT_ONCE
        last = int(np.searchsorted(graph.row_ptr, limit, side="right")) - 1
        last = min(max(last, first + 1), graph.num_nodes)
        blocks.append((first, last))
        first = last
    return blocks
