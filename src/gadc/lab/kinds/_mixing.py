"""Whether edges join like or unlike nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gadc.lab._pairs_of_nodes import dots
from gadc.lab._prepared import unit_rows
from gadc.lab._view import GraphView

_LEAST = 20  # edges with labels at both ends, for a verdict by labels
_ADJUSTED = 0.1  # (homophily - chance) / (1 - chance) below which edges join unlike nodes
_ALIKE = 0.02  # mean cosine of neighbours above which their features are alike
_SAMPLE = 20_000


@dataclass(frozen=True, kw_only=True)
class Mixing:
    """How alike the ends of edges are.

    Attributes:
        homophily: Share of the labelled edges inside one class; NaN without such edges.
        chance: The same share for random pairs of ends.
        labelled_edges: Number of edges with labels at both ends.
        cosine: Mean cosine of the features of neighbours; random pairs have about 0. NaN without features.
        error: Standard error of this mean.
    """

    homophily: float
    chance: float
    labelled_edges: int
    cosine: float
    error: float

    @property
    def adjusted(self) -> float:
        """Homophily on a scale where chance is 0 and only edges inside classes are 1."""
        return (self.homophily - self.chance) / (1 - self.chance) if self.chance < 1 else math.nan

    @property
    def is_heterophilous(self) -> bool:
        """Whether edges do not join like nodes: by labels where there are enough, else by features."""
        if self.labelled_edges >= _LEAST and not math.isnan(self.adjusted):
            return self.adjusted < _ADJUSTED
        return bool(self.cosine < -2 * self.error)

    @property
    def has_like_features(self) -> bool:
        """Whether neighbours have clearly more in common than random pairs, whatever their labels say."""
        return bool(self.cosine > _ALIKE + 2 * self.error)


def mixing_of(view: GraphView) -> Mixing:
    """Measure how alike the ends of edges are."""
    u, v = view.pairs
    both = (view.y[u] >= 0) & (view.y[v] >= 0)
    homophily = float((view.y[u] == view.y[v])[both].mean()) if both.any() else math.nan
    ends = np.concatenate([view.y[u[both]], view.y[v[both]]])
    shares = np.bincount(ends) / len(ends) if len(ends) else np.full(1, math.nan)
    cosine = error = math.nan
    if view.rows.shape[1] and len(u) > 1:
        chosen = view.generator(salt=2).permutation(len(u))[:_SAMPLE]
        q = unit_rows(view.rows)
        cosines = dots(q, q, u[chosen], v[chosen])
        cosine, error = float(cosines.mean()), float(cosines.std() / math.sqrt(len(cosines)))
    return Mixing(
        homophily=homophily,
        chance=float((shares**2).sum()),
        labelled_edges=int(both.sum()),
        cosine=cosine,
        error=error,
    )
