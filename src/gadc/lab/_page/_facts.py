"""What the panel of an item says: classes and neighbours of its ends, and the features that differ most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gadc.lab._page._neighborhood import neighbors_of
from gadc.lab._page._picture import class_letter, class_name, node_name
from gadc.lab._predictions import Predictions
from gadc.lab._view import GraphView
from gadc.report._style import shortened

_FEATURES = 6
_CLASSES = 12
_NAME = 60
_WITHOUT = "– without this edge"
_PREDICTED = "predicted class"


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A small table of the panel: a title, a header per column, and rows of texts."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    caption: str = ""


class Facts:
    """Facts about the nodes of a graph; what all items need is computed once.

    Args:
        view: The graph.
    """

    def __init__(self, view: GraphView) -> None:
        self._view = view

    def ends(self, ends: tuple[int, ...], *, edge: bool, effects: tuple[float | None, ...] = ()) -> Grid:
        """Compare class, neighbours and predictions of the ends.

        Args:
            ends: One node or two.
            edge: Whether the item is the edge between them, which may be removed.
            effects: Change of the probability of the predicted class at each end if the edge is removed.
        """
        view = self._view
        rows = [["neighbours", *(f"{view.degree[end]:,}" for end in ends)]]
        if len(view.labelled):
            rows.insert(0, ["class", *(self._class(int(view.y[end])) for end in ends)])
            rows.append(["neighbours of its class", *(self._agreeing(end, None) for end in ends)])
        if edge and len(view.labelled):
            others = zip(ends, ends[::-1], strict=True)
            rows.append([_WITHOUT, *(self._agreeing(end, other) for end, other in others)])
        predicted = self._predictions.of(ends) if edge else None
        for title, found in zip((_PREDICTED, _WITHOUT), predicted or (), strict=False):
            rows.append([title, *(f"{self._class(number)} {100 * share:.0f} %" for number, share in found)])
        if any(effect is not None for effect in effects):
            words = ["" if effect is None else f"{100 * effect:+.1f} points" for effect in effects]
            rows.append(["removal changes its prediction by", *words])
        title = "The two ends" if len(ends) == 2 else "The node"
        caption = "" if predicted is None else "Predicted by models that have not learned from these ends."
        return Grid(
            title=title, columns=["", *(node_name(view, end) for end in ends)], rows=rows, caption=caption
        )

    def shared(self, ends: tuple[int, ...]) -> str:
        """Name the shared neighbours."""
        nodes = np.intersect1d(neighbors_of(self._view, ends[0]), neighbors_of(self._view, ends[-1]))
        if not len(nodes):
            return "The two share no neighbour."
        named = ", ".join(node_name(self._view, int(node), 30) for node in nodes[:_CLASSES])
        more = f" and {len(nodes) - _CLASSES:,} more" if len(nodes) > _CLASSES else ""
        return f"Shared neighbours ({len(nodes):,}): {named}{more}."

    def features(self, ends: tuple[int, ...]) -> Grid | None:
        """List the features that differ most, between two ends or between a node and its neighbours."""
        view = self._view
        if view.features is None or (len(ends) == 1 and not view.degree[ends[0]]):
            return None
        one = self._row(np.array(ends[:1]))
        other = self._row(np.array(ends[1:]) if len(ends) == 2 else neighbors_of(view, ends[0])[:1000])
        gap = np.divide(one - other, self._deviation, out=np.zeros_like(one), where=self._deviation > 0)
        order = np.argsort(-np.abs(gap), kind="stable")[:_FEATURES]
        rows = [
            [shortened(view.columns[j], _NAME), f"{one[j]:.3g}", f"{other[j]:.3g}", f"{abs(gap[j]):.1f} SD"]
            for j in order
            if gap[j] != 0
        ]
        if not rows:
            return None
        second = node_name(view, ends[1], 20) if len(ends) == 2 else "mean of its neighbours"
        return Grid(
            title="Features that differ most",
            columns=["feature", node_name(view, ends[0], 20), second, "gap"],
            rows=rows,
            caption="SD: standard deviations of the column.",
        )

    def column(self, name: str) -> Grid | None:
        """Compare the values of a feature between the classes."""
        view = self._view
        if view.features is None or name not in view.columns:
            return None
        place = view.columns.index(name)
        picked = view.features[:, [place]]
        values = (picked.toarray() if sparse.issparse(picked) else picked).ravel()
        rows = []
        for number in np.unique(view.y[view.labelled])[:_CLASSES]:
            own = values[view.y == number]
            rows.append([self._class(int(number)), f"{len(own):,}", *(f"{f(own):.3g}" for f in _SUMMARIES)])
        return Grid(title="Values by class", columns=["class", "nodes", "least", "median", "most"], rows=rows)

    def _class(self, number: int) -> str:
        name = class_name(self._view, number)
        return name if number < 0 else f"{class_letter(number)}: {name}"

    def _agreeing(self, node: int, without: int | None) -> str:
        view = self._view
        near = neighbors_of(view, node)
        known = near[(view.y[near] >= 0) & (near != (-1 if without is None else without))]
        if view.y[node] < 0:
            return ""
        return f"{int((view.y[known] == view.y[node]).sum()):,} of {len(known):,} labelled"

    def _row(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mean row of nodes."""
        assert self._view.features is not None  # noqa: S101 - asked before
        found: NDArray[np.float64] = np.asarray(
            self._view.features[nodes].mean(axis=0), dtype=np.float64
        ).ravel()
        return found

    @cached_property
    def _predictions(self) -> Predictions:
        return Predictions(self._view)

    @cached_property
    def _deviation(self) -> NDArray[np.float64]:
        """Standard deviation of each column."""
        x = self._view.features
        found: NDArray[np.float64]
        if sparse.issparse(x):
            mean = np.asarray(x.mean(axis=0), dtype=np.float64).ravel()
            square = np.asarray(x.multiply(x).mean(axis=0), dtype=np.float64).ravel()
            found = np.sqrt(np.maximum(square - mean**2, 0))
        else:
            found = np.asarray(x).std(0, dtype=np.float64)
        return found


_SUMMARIES: tuple[Callable[[NDArray[np.float32]], np.floating], ...] = (np.min, np.median, np.max)
