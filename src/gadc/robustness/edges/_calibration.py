"""Probability that an edge is false: its score compared with the scores of false edges planted on purpose.

Let g be the density of the scores of the given edges, f the density of the scores of false edges, and π the
share of the given edges that are false. Then an edge of score s is false with probability π f(s) / g(s).

    f    is measured: edges between uniformly drawn nodes are planted and scored with the rest.
    f/g  is estimated as a monotone function (isotonic regression of "planted" on the score).
    π    cannot be known from scores alone, but it can be bounded: π f(s) <= g(s) for all s, so above every
         threshold the share of the given edges is at least π times the share of the planted edges. π is
         taken as the smallest ratio of the two shares, each at its 95 % bound (mixture proportion estimation:
         Blanchard, Lee and Scott, "Semi-Supervised Novelty Detection", JMLR 2010).

This assumes that false edges look like random ones and that right edges do not quite. Right edges between
dissimilar nodes are therefore counted as false; edges that an attacker adds between similar nodes are
under-counted, and an attacker who knows the score is missed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import beta
from sklearn.isotonic import IsotonicRegression
from torch import Tensor

from gadc._base.pairs import pair_ends, pair_numbers, sample_non_edges
from gadc.robustness.edges._scores import edge_scores, undirected_pairs

_PLANTED_SHARE = 0.1  # of the edges, per round: few enough to leave the scores of the other edges as they are
_ROUNDS = 3
_ERROR_RATE = 0.05  # of each bound

_Array = NDArray[np.float64]


@dataclass(frozen=True)
class CalibratedScores:
    """Scores of edges with the probabilities that the edges are false.

    Attributes:
        scores: The result of `edge_scores`, shape (m,).
        probability: Probability that each edge is false, shape (m,); it never falls where the score rises.
        share: Estimate of π, about the largest share of false edges that the scores allow.
    """

    scores: Tensor
    probability: Tensor
    share: float


def calibrate_scores(
    x: Tensor, edge_index: Tensor, *, score: str = "combined", seed: int = 0
) -> CalibratedScores:
    """Score the undirected edges and estimate how likely each is false, if false edges look like random ones.

    The cost is four times the cost of `edge_scores`.

    Args:
        x: Node features X.
        edge_index: Edges, in any order and direction.
        score: Name of the score in `SCORES`, "combined" by default.
        seed: Seed of the planted edges, 0 by default.

    Shapes:
        x (n, d), edge_index (2, any number); the results have one entry per undirected edge, in the order of
        `undirected_pairs`.

    Examples:
        >>> from gadc.datasets import csbm
        >>> data = csbm(100, homophily=0.95, signal=3.0, seed=0)
        >>> calibrated = calibrate_scores(data.x, data.edge_index)
        >>> bool((calibrated.probability <= 1).all())
        True
    """
    scores = edge_scores(x, edge_index, score=score)
    planted = _planted_places(x, undirected_pairs(edge_index, len(x)), score, seed)
    if not len(planted):  # no edge, or no pair without one
        return CalibratedScores(scores, torch.zeros(len(scores), dtype=torch.float64), 0.0)
    given = places_among(np.sort(scores.numpy()), scores.numpy())
    share = largest_share(planted, len(given))
    chances = np.minimum(1.0, share * density_ratio(given, planted))
    return CalibratedScores(scores, torch.from_numpy(chances), share)


def _planted_places(x: Tensor, pairs: Tensor, score: str, seed: int) -> _Array:
    """Plant edges and compute the place of each: the share of the given edges that score higher."""
    n, m = len(x), pairs.shape[1]
    count = min(max(1, round(_PLANTED_SHARE * m)), n * (n - 1) // 2 - m) if m else 0
    numbers = pair_numbers(*pairs).sort().values
    generator = torch.Generator().manual_seed(seed)
    places = [np.zeros(0)]
    for _ in range(_ROUNDS if count else 0):
        new = pair_ends(sample_non_edges(numbers, count, n, generator))
        both = torch.cat([pairs, new], 1)
        u, v = undirected_pairs(both, n)
        is_new = torch.isin(pair_numbers(u, v), pair_numbers(*new)).numpy()
        scores = edge_scores(x, both, score=score).numpy()
        places.append(places_among(np.sort(scores[~is_new]), scores[is_new]))
    return np.concatenate(places)


def places_among(ordered: NDArray[np.floating], scores: NDArray[np.floating]) -> _Array:
    """Compute the share of the ordered scores above each score; equal scores count half."""
    below = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    return 1 - below / (2 * len(ordered))


def largest_share(planted: _Array, m: int) -> float:
    """Find the smallest ratio of given to planted edges above a threshold, both shares at their bounds."""
    k = len(planted)
    hits, above = np.arange(1, k + 1), np.minimum(np.round(np.sort(planted) * m), m - 1)
    at_most = beta.ppf(1 - _ERROR_RATE, above + 1, m - above)
    at_least = beta.ppf(_ERROR_RATE, hits, k - hits + 1)
    return min(1.0, float(np.min(at_most / at_least)))


def density_ratio(given: _Array, planted: _Array) -> _Array:
    """Estimate f/g at each given edge."""
    places = np.concatenate([given, planted])
    is_planted = np.concatenate([np.zeros(len(given)), np.ones(len(planted))])
    fitted = IsotonicRegression(increasing=False).fit(places, is_planted).predict(given)
    odds: _Array = fitted / np.maximum(1 - fitted, 1e-12)
    return odds * len(given) / len(planted)
