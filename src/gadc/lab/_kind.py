"""The base class of a kind of issue."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from gadc.lab._findings import Findings
from gadc.lab._view import GraphView


class Kind(ABC):
    """Something that can be wrong with a graph, and how it is found.

    A subclass names itself, says what it needs, and implements `find`. The same view is passed to all kinds,
    so what one computes (denoised features, class probabilities) is there for the next.

    Attributes:
        name: Name of the kind, such as "edge".
        title: The items in the plural, such as "Edges that should not be there".
        items: What a row is: "node", "edge", "pair" (two nodes without an edge), "column" or "graph".
        needs_labels: Whether the nodes must have labels; False by default.
        needs_features: Whether the nodes must have features; False by default.

    Examples:
        >>> import numpy as np
        >>> import polars as pl
        >>> from gadc.lab import Findings, GraphView, Kind
        >>> class Hub(Kind):
        ...     name, title, items = "hub", "Nodes with very many neighbours", "node"
        ...     def find(self, view):
        ...         node = np.argsort(-view.degree, kind="stable")
        ...         share = view.degree[node] / max(view.num_nodes - 1, 1)
        ...         frame = pl.DataFrame({"node": node, "is_issue": share > 0.5, "score": 1 - share})
        ...         frame = frame.with_columns(
        ...             probability=pl.lit(None, pl.Float64),
        ...             reasons=pl.when("is_issue").then(pl.lit("joined to more than half of all nodes")),
        ...         )
        ...         return Findings(frame=frame, summary=f"{frame['is_issue'].sum()} hubs.")
        >>> import gadc
        >>> edges = pl.DataFrame({"source": [1, 1, 1], "target": [2, 3, 4]})
        >>> lab = gadc.Lab(edges).find_issues(kinds=[Hub()])
        >>> lab.issues("hub").filter("is_issue")["id"].to_list()
        [1]
    """

    name: ClassVar[str]
    title: ClassVar[str]
    items: ClassVar[str]
    needs_labels: ClassVar[bool] = False
    needs_features: ClassVar[bool] = False

    @abstractmethod
    def find(self, view: GraphView) -> Findings:
        """Judge the items of a graph."""

    def missing(self, view: GraphView) -> str | None:
        """Say what the graph lacks for this kind; None if nothing."""
        if self.needs_features and view.features is None:
            return "it needs features, and the nodes have none"
        if self.needs_labels and view.num_classes < 2:
            lacking = "the nodes have none" if not len(view.labelled) else "all labels are the same"
            return f"it needs labels of at least two classes, and {lacking}"
        return None
