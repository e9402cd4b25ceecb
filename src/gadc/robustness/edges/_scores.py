"""Which edges not to trust: scores of the edges of a graph, high for edges that look added by someone.

Attacks on graphs mostly add edges, and between nodes that have little in common. Each score looks for
something that the two ends u, v could have in common:

    cosine       1 - cos(x_u, x_v)
    centred      the same of x - mean(x): a word that everybody uses is nothing in common
    denoised     the same of features diffused a little (plain, λ = 2, K = 4)
    neighbours   1 - the mean cosine of u with the other neighbours of v, and of v with those of u
    common       1 / (1 + number of common neighbours)
    combined     mean rank among all edges in the last four, between 0 and 1

Weights of edges play no part. A score ranks; it is no probability.
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

from gadc._base.validation import check_choice, check_features
from gadc.diffusion._diffuse import diffuse
from gadc.diffusion._graph import adjacency
from gadc.operators import LinearOperator
from gadc.operators._pattern import SparsePattern
from gadc.operators._products import sddmm

_SLAB = 4096  # rows of A² formed at a time


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
        """The view of a graph; repeated edges count once, loops not at all."""
        x = check_features("suspicion", x)
        return cls(x, adjacency(edge_index, None, x.shape[0], dtype=x.dtype, owner="suspicion"))

    @cached_property
    def pattern(self) -> SparsePattern:
        """The edges u < v, sorted."""
        rows, cols = self.graph.pattern.rows.long(), self.graph.pattern.cols.long()
        upper = (rows < cols) & (self.graph.values > 0)
        n = self.graph.shape[0]
        return SparsePattern.from_keys(rows[upper] * n + cols[upper], n, n)

    @property
    def pairs(self) -> Tensor:
        """The edges u < v, shape (2, m)."""
        return torch.stack([self.pattern.rows.long(), self.pattern.cols.long()])

    def cosines(self, x: Tensor) -> Tensor:
        """Cosine of the ends of each edge; 0 for a zero row."""
        directions = torch.nn.functional.normalize(x, dim=1)
        return sddmm(self.pattern, directions, directions)


def undirected_pairs(edge_index: Tensor, num_nodes: int) -> Tensor:
    """The edges that `suspicion` scores, in its order: each pair u < v once, shape (2, m)."""
    return EdgeView(torch.empty(num_nodes, 0), adjacency(edge_index, None, num_nodes)).pairs


def suspicion(x: Tensor, edge_index: Tensor, *, score: str = "combined") -> Tensor:
    """A score for each undirected edge, in the order of `undirected_pairs`: the higher, the less trusted.

    Args:
        x: Node features X, shape (n, d).
        edge_index: Edges, shape (2, m), in any order and direction.
        score: One of `SCORES`.
    """
    check_choice("suspicion", score, "score", tuple(SCORES))
    with torch.no_grad():
        return SCORES[score](EdgeView.of(x, edge_index))


def detection(scores: Tensor, changed: Tensor) -> dict[str, float]:
    """How well scores find the edges that are known to be changed.

    Args:
        scores: One an edge.
        changed: Whether each edge was changed; there must be edges of both kinds.

    Returns:
        `precision_at_k` with k the number of changed edges (expected over the order of ties), `roc_auc` and
        `pr_auc` (average precision).
    """
    s, truth = scores.double().numpy(), changed.numpy().astype(bool)
    k = int(truth.sum())
    if not 0 < k < len(truth):
        raise ValueError(
            f"detection: some edges must be changed and some not, got {k} changed of {len(truth)}."
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


def _centred(view: EdgeView) -> Tensor:
    return 1 - view.cosines(view.x - view.x.mean(0))


def _denoised(view: EdgeView) -> Tensor:
    return 1 - view.cosines(diffuse(view.x, view.pairs, variant="plain", lam=2.0, num_steps=4))


def _neighbours(view: EdgeView) -> Tensor:
    """An end without other neighbours has nothing that speaks for the edge, so its mean counts as 0."""
    directions = torch.nn.functional.normalize(view.x, dim=1)
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
        keys = (paths.row.astype(np.int64) + start) * n + paths.col
        counts[np.searchsorted(u * n + v, keys)] = paths.data
    return torch.from_numpy(1 / (1 + counts))


def _combined(view: EdgeView) -> Tensor:
    parts = (_centred, _denoised, _neighbours, _common)
    # Rounded, so that ties do not hang on the order in which some machine sums.
    ranks = [rankdata(part(view).double().numpy().round(6)) for part in parts]
    return torch.from_numpy(np.mean(ranks, axis=0) / max(len(ranks[0]), 1))


SCORES: dict[str, Callable[[EdgeView], Tensor]] = {
    "combined": _combined,
    "denoised": _denoised,
    "neighbours": _neighbours,
    "centred": _centred,
    "cosine": _cosine,
    "common": _common,
}
