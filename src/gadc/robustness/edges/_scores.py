"""Scores of the edges of a graph, high for edges that look false.

Attacks on graphs mostly add edges, and mostly between nodes that have little in common. Each score looks for
something that the two ends u, v could have in common:

    cosine       1 - cos(x_u, x_v)
    centered     the same for x - mean(x): a word that every node has says nothing about two of them
    denoised     the same for features after a short diffusion (plain, λ = 2, K = 4)
    neighbors    1 - the mean cosine of u with the other neighbors of v, and of v with those of u
    common       1 / (1 + number of common neighbors)
    combined     mean rank among all edges in the last four, between 0 and 1

Edge weights play no part. A score ranks edges; it is not a probability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from scipy import sparse
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import Tensor

from gadc._base.pairs import edge_keys
from gadc._base.scalars import check_choice
from gadc._base.validation import check_features
from gadc.diffusion import diffuse
from gadc.diffusion._graph import adjacency
from gadc.diffusion._similarity import cosines, unit_rows
from gadc.operators import LinearOperator, SparsePattern, sddmm

_SLAB = 4096  # rows of A² computed at a time


@dataclass(frozen=True, eq=False)
class EdgeView:
    """A graph seen from its undirected edges.

    Args:
        x: Features, shape (n, d).
        graph: A without weights.
    """

    x: Tensor
    graph: LinearOperator

    @classmethod
    def of(cls, x: Tensor, edge_index: Tensor) -> EdgeView:
        """Make the view of a graph; repeated edges count once, self-loops are left out."""
        x = check_features("edge_scores", x)
        return cls(x, adjacency(edge_index, None, x.shape[0], dtype=x.dtype, owner="edge_scores"))

    @cached_property
    def pattern(self) -> SparsePattern:
        """The edges u < v, sorted."""
        rows, cols = self.graph.pattern.rows.long(), self.graph.pattern.cols.long()
        upper = (rows < cols) & (self.graph.values > 0)
        n = self.graph.shape[0]
        return SparsePattern.from_entries(rows[upper], cols[upper], n, n)

    @property
    def pairs(self) -> Tensor:
        """The edges u < v, shape (2, m)."""
        return torch.stack([self.pattern.rows.long(), self.pattern.cols.long()])

    def cosines(self, x: Tensor) -> Tensor:
        """Compute the cosine of the features of the ends of each edge; 0 for a zero row."""
        return cosines(x, self.pattern)


def undirected_pairs(edge_index: Tensor, num_nodes: int) -> Tensor:
    """List each undirected edge once as a pair u < v, in the order of `edge_scores`.

    Args:
        edge_index: Edges, shape (2, any number), in any order and direction.
        num_nodes: Number of nodes n.

    Returns:
        Pairs, shape (2, m).

    Examples:
        >>> import torch
        >>> undirected_pairs(torch.tensor([[1, 0, 2], [0, 1, 1]]), 3)
        tensor([[0, 1],
                [1, 2]])
    """
    return EdgeView(torch.empty(num_nodes, 0), adjacency(edge_index, None, num_nodes)).pairs


def edge_scores(x: Tensor, edge_index: Tensor, *, score: str = "combined") -> Tensor:
    """Score each undirected edge: the higher, the less it can be trusted.

    Args:
        x: Node features X.
        edge_index: Edges, in any order and direction.
        score: Name of the score in `SCORES`, "combined" by default.

    Shapes:
        x (n, d), edge_index (2, any number); the result has one entry per undirected edge, in the order of
        `undirected_pairs`.

    Examples:
        >>> import torch
        >>> x = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> edge_scores(x, torch.tensor([[0, 1], [1, 2]]), score="cosine")
        tensor([0., 1.])
    """
    check_choice("edge_scores", score, "score", tuple(SCORES))
    with torch.no_grad():
        return SCORES[score](EdgeView.of(x, edge_index))


def detection_quality(scores: Tensor, is_false: Tensor) -> dict[str, float]:
    """Measure how well scores find the edges that are known to be false.

    Args:
        scores: One score per edge.
        is_false: Whether each edge is false; there must be edges of both kinds.

    Shapes:
        scores (m,), is_false (m,).

    Returns:
        `precision_at_k`, where k is the number of false edges (the expected value over the order of ties),
        `roc_auc` and `pr_auc` (average precision).

    Examples:
        >>> import torch
        >>> quality = detection_quality(torch.tensor([0.9, 0.2, 0.4]), torch.tensor([True, False, False]))
        >>> quality["precision_at_k"], quality["roc_auc"]
        (1.0, 1.0)
    """
    s, truth = scores.double().numpy(), is_false.numpy().astype(bool)
    k = int(truth.sum())
    if not 0 < k < len(truth):
        raise ValueError(
            f"detection_quality: some edges must be false and some right, got {k} false of {len(truth)}."
        )
    threshold = np.sort(s)[-k]
    above, tied = s > threshold, s == threshold
    hits = truth[above].sum() + (k - above.sum()) * truth[tied].mean()
    return {
        "precision_at_k": float(hits / k),
        "roc_auc": float(roc_auc_score(truth, s)),
        "pr_auc": float(average_precision_score(truth, s)),
    }


def _cosine(view: EdgeView) -> Tensor:
    return 1 - view.cosines(view.x)


def _centered(view: EdgeView) -> Tensor:
    return 1 - view.cosines(view.x - view.x.mean(0))


def _denoised(view: EdgeView) -> Tensor:
    return 1 - view.cosines(diffuse(view.x, view.pairs, variant="plain", lam=2.0, num_steps=4))


def _neighbors(view: EdgeView) -> Tensor:
    # An end without other neighbors has nothing that speaks for the edge, so its mean counts as 0.
    directions = unit_rows(view.x)
    sums = view.graph @ directions
    own = directions.square().sum(1)  # 1, or 0 for a zero row
    degree = view.graph @ torch.ones(len(own), dtype=own.dtype)
    others = (degree - 1).clamp(min=1)
    u, v = view.pairs
    of_u = (sddmm(view.pattern, directions, sums) - own[u]) / others[v]
    of_v = (sddmm(view.pattern, sums, directions) - own[v]) / others[u]
    return 1 - (of_u + of_v) / 2


def _common(view: EdgeView) -> Tensor:
    n = view.graph.shape[0]
    u, v = view.pairs.numpy()
    ends = (np.concatenate([u, v]), np.concatenate([v, u]))
    a = sparse.csr_array((np.ones(2 * len(u), dtype=np.float32), ends), shape=(n, n))
    upper = sparse.csr_array((np.ones(len(u), dtype=np.float32), (u, v)), shape=(n, n))
    counts = np.zeros(len(u), dtype=np.float32)
    for start in range(0, n, _SLAB):
        rows = slice(start, start + _SLAB)
        paths = (a[rows] @ a).multiply(upper[rows]).tocoo()
        keys = edge_keys((paths.row.astype(np.int64) + start, paths.col), n)
        counts[np.searchsorted(edge_keys((u, v), n), keys)] = paths.data
    return torch.from_numpy(1 / (1 + counts))


def _combined(view: EdgeView) -> Tensor:
    parts = (_centered, _denoised, _neighbors, _common)
    # Rounded, so that ties do not depend on the order in which a machine adds numbers.
    ranks = [rankdata(part(view).double().numpy().round(6)) for part in parts]
    return torch.from_numpy(np.mean(ranks, axis=0) / max(len(ranks[0]), 1))


SCORES: dict[str, Callable[[EdgeView], Tensor]] = {
    "combined": _combined,
    "denoised": _denoised,
    "neighbors": _neighbors,
    "centered": _centered,
    "cosine": _cosine,
    "common": _common,
}
