"""Nodes that the graph does not reach: isolated ones and small components."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.sparse.csgraph import connected_components

from gadc.lab._findings import Findings
from gadc.lab._kind import Kind
from gadc.lab._view import GraphView

_SMALL = 3  # nodes of a component that counts as cut off, if another component holds most of the graph


class Isolated(Kind):
    """Find nodes without edges, and components of two or three nodes beside a large one.

    Examples:
        >>> import gadc
        >>> import polars as pl
        >>> edges = pl.DataFrame({"source": [1, 2], "target": [2, 3]})
        >>> lab = gadc.Lab(edges, pl.DataFrame({"id": [1, 2, 3, 4]})).find_issues(kinds=["isolated"])
        >>> lab.issues("isolated").filter("is_issue")["id"].to_list()
        [4]
    """

    name = "isolated"
    title = "Nodes that the graph does not reach"
    items = "node"

    def find(self, view: GraphView) -> Findings:
        """Judge every node by the size of its component."""
        view.tell("isolated: components")
        n = view.num_nodes
        component = (
            connected_components(view.adjacency, directed=False)[1] if n else np.zeros(0, dtype=np.int64)
        )
        sizes = np.bincount(component, minlength=1)
        size = sizes[component]
        largest = int(sizes.max())
        is_issue = (size == 1) | ((size <= _SMALL) & (largest > max(n / 2, 10)))
        order = np.lexsort((component, size))
        frame = pl.DataFrame(
            {"node": order, "is_issue": is_issue[order], "score": size[order] / max(largest, 1)}
        )
        reason = (
            pl.when(pl.col("component_size") == 1)
            .then(pl.lit("it has no edge"))
            .when("is_issue")
            .then(
                pl.format("its component has {} nodes, the largest has {}", "component_size", pl.lit(largest))
            )
        )
        frame = frame.with_columns(
            probability=pl.when("is_issue").then(1.0).otherwise(0.0), component_size=pl.Series(size[order])
        ).with_columns(reasons=reason)
        frame = frame.select("node", "is_issue", "score", "probability", "reasons", "component_size")
        alone, cut = int((size == 1).sum()), int(is_issue.sum()) - int((size == 1).sum())
        count = int((sizes > 0).sum()) if n else 0
        return Findings(
            frame=frame,
            summary=_sentence(alone, cut, count, largest),
            expected=float(is_issue.sum()),
            notes=("These are facts, not estimates.",) if is_issue.any() else (),
        )


def _sentence(alone: int, cut: int, count: int, largest: int) -> str:
    if not alone and not cut:
        return f"No isolated node was found ({count:,} components, the largest of {largest:,} nodes)."
    parts = [f"{alone:,} nodes have no edge"] if alone else []
    parts += [f"{cut:,} nodes are in components of 2 or 3 nodes"] if cut else []
    return f"{' and '.join(parts)}."
