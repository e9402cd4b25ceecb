"""Do edges from after a label tell the label better than edges from before it?

For each labelled node u with k earlier and l later labelled neighbours, min(k, l) of each are drawn, and
the majority of their classes is the prediction. Both sides so have the same nodes and as many edges, and
only the time differs. Later edges are a leak if

    accuracy(later) - accuracy(earlier) >= 0.1   and   >= 3 standard errors of this difference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gadc.lab._times import EdgeTimes
from gadc.lab._view import GraphView, Integers

_GAP = 0.1  # of the balanced accuracy
_ERRORS = 3.0
_LEAST = 20  # nodes with edges on both sides of the time
_MOST = 20_000


@dataclass(frozen=True, kw_only=True)
class LaterEdges:
    """What edges before and after the time of a label give.

    Args:
        earlier: Balanced accuracy of the majority of earlier neighbours.
        later: Balanced accuracy of the majority of as many later neighbours.
        error: Standard error of the difference.
        num_nodes: Number of nodes with both.
        share: Share of the neighbours of labelled nodes that are joined by later edges only.
    """

    earlier: float
    later: float
    error: float
    num_nodes: int
    share: float

    @property
    def is_leak(self) -> bool:
        """Tell whether later edges tell the label much better."""
        gap = self.later - self.earlier
        return self.num_nodes >= _LEAST and gap >= _GAP and gap >= _ERRORS * self.error


def compare_later_edges(view: GraphView, times: EdgeTimes) -> LaterEdges:
    """Compare edges before and after the times of the labels."""
    node, neighbor, late = _neighbors(view, times)
    sides = np.stack([np.bincount(node[late == side], minlength=view.num_nodes) for side in (0, 1)])
    share = float(_late_only(node, neighbor, late, view.num_nodes))
    chosen = np.flatnonzero(sides.min(0) > 0)
    if len(chosen) > _MOST:
        chosen = np.sort(view.generator(salt=5).choice(chosen, _MOST, replace=False))
    if len(chosen) < _LEAST:
        none = float("nan")
        return LaterEdges(earlier=none, later=none, error=none, num_nodes=len(chosen), share=share)
    y, allowed = view.y[chosen], sides.min(0)
    order = np.lexsort((view.generator(salt=6).random(len(node)), late, node))
    node, neighbor, late = node[order], neighbor[order], late[order]
    first = np.flatnonzero(np.r_[True, (np.diff(node) != 0) | (np.diff(late) != 0)])
    rank = np.arange(len(node)) - np.repeat(first, np.diff(np.r_[first, len(node)]))
    kept = rank < allowed[node]
    right = [
        _votes(node[kept & (late == side)], neighbor[kept & (late == side)], view)[chosen].argmax(1) == y
        for side in (0, 1)
    ]
    return _compared(right[0].astype(float), right[1].astype(float), y, share)


def _neighbors(view: GraphView, times: EdgeTimes) -> tuple[Integers, Integers, Integers]:
    """Return labelled nodes, their labelled neighbours, and 1 for a later edge; each of these once."""
    n = view.num_nodes
    node, neighbor = np.concatenate([times.ends, times.ends[::-1]], axis=1)
    at = np.concatenate([times.at, times.at])
    known = (view.y[node] >= 0) & (view.y[neighbor] >= 0) & (node != neighbor)
    known &= np.isfinite(times.limits[node]) & np.isfinite(at)
    node, neighbor, at = node[known], neighbor[known], at[known]
    late = (at > times.limits[node]).astype(np.int64)
    keys = np.unique((node * n + neighbor) * 2 + late)
    return keys // 2 // n, keys // 2 % n, keys % 2


def _late_only(node: Integers, neighbor: Integers, late: Integers, num_nodes: int) -> float:
    pairs = node * num_nodes + neighbor
    total = len(np.unique(pairs))
    return (total - len(np.unique(pairs[late == 0]))) / total if total else 0.0


def _votes(node: Integers, neighbor: Integers, view: GraphView) -> NDArray[np.float64]:
    """Count the classes of the neighbours of each node, shape (n, classes)."""
    shape = view.num_nodes, int(view.y.max()) + 1
    counts = sparse.csr_array((np.ones(len(node)), (node, view.y[neighbor])), shape=shape)
    dense: NDArray[np.float64] = counts.toarray()
    return dense


def _compared(
    earlier: NDArray[np.float64], later: NDArray[np.float64], y: Integers, share: float
) -> LaterEdges:
    """Average over the classes; the error is of the paired difference, with one doubtful node per class."""
    sizes = np.bincount(y)
    present = sizes > 0
    sizes = sizes[present]
    means = [np.bincount(y, one)[present] / sizes for one in (earlier, later)]
    spread = (np.bincount(y, (later - earlier) ** 2)[present] + 1) / sizes - (means[1] - means[0]) ** 2
    error = np.sqrt((spread.clip(min=0) / sizes).sum()) / len(sizes)
    return LaterEdges(
        earlier=float(means[0].mean()),
        later=float(means[1].mean()),
        error=float(error),
        num_nodes=len(y),
        share=share,
    )
