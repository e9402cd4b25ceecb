"""How likely an edge is false: its score against the scores of false edges planted on purpose.

Let g be the density of the scores of the given edges and f that of false ones; of the given edges a share π
is false. Then an edge of score s is false with probability π f(s) / g(s).

    f    is measured: edges between uniformly drawn strangers are planted and scored with the rest.
    f/g  is estimated as a monotone function (isotonic regression of "planted" on the score).
    π    cannot be known from scores alone, but a bound can: π f(s) <= g(s) for all s, so above no threshold
         may the share of the given edges be smaller than π times that of the planted ones. π is taken as the
         smallest ratio of the two, each at its 95 % bound (mixture proportion estimation: Blanchard, Lee and
         Scott, "Semi-Supervised Novelty Detection", JMLR 2010).

What this assumes: false edges look like random ones, and right ones never quite so. Right edges between
strangers are therefore counted as false; an attacker who adds edges between nodes that are alike is
under-counted, and one who knows the score is missed.
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
from gadc.robustness.edges._scores import suspicion, undirected_pairs

_RATE = 0.1  # planted at a time: few enough to leave the scores of the rest as they are
_ROUNDS = 3
_DOUBT = 0.05  # of each bound

_Array = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """Scores of edges as probabilities.

    Attributes:
        scores: As of `suspicion`.
        probability: That an edge is false, between 0 and 1; never falls where the score rises.
        share: π, about the largest share of false edges that the scores allow.
    """

    scores: Tensor
    probability: Tensor
    share: float


def calibrated_suspicion(
    x: Tensor, edge_index: Tensor, *, score: str = "combined", seed: int = 0
) -> Calibration:
    """Scores of the undirected edges, and how likely each is false if false edges look like random ones.

    Costs four times `suspicion`.

    Args:
        x: Node features X, shape (n, d).
        edge_index: Edges, shape (2, m), in any order and direction.
        score: One of `gadc.robustness.edges._scores.SCORES`.
        seed: Seed of the planted edges.
    """
    scores = suspicion(x, edge_index, score=score)
    planted = _planted(x, undirected_pairs(edge_index, len(x)), score, seed)
    if not len(planted):  # no edge, or no pair without one
        return Calibration(scores, torch.zeros(len(scores), dtype=torch.float64), 0.0)
    given = _places(np.sort(scores.numpy()), scores.numpy())
    share = _largest_share(planted, len(given))
    chances = np.minimum(1.0, share * _density_ratio(given, planted))
    return Calibration(scores, torch.from_numpy(chances), share)


def _planted(x: Tensor, pairs: Tensor, score: str, seed: int) -> _Array:
    """Where planted edges stand among the given ones: share of those that score higher."""
    n, m = len(x), pairs.shape[1]
    count = min(max(1, round(_RATE * m)), n * (n - 1) // 2 - m) if m else 0
    numbers = pair_numbers(*pairs).sort().values
    generator = torch.Generator().manual_seed(seed)
    places = [np.zeros(0)]
    for _ in range(_ROUNDS if count else 0):
        new = pair_ends(sample_non_edges(numbers, count, n, generator))
        both = torch.cat([pairs, new], 1)
        u, v = undirected_pairs(both, n)
        is_new = torch.isin(pair_numbers(u, v), pair_numbers(*new)).numpy()
        scores = suspicion(x, both, score=score).numpy()
        places.append(_places(np.sort(scores[~is_new]), scores[is_new]))
    return np.concatenate(places)


def _places(ordered: NDArray[np.floating], scores: NDArray[np.floating]) -> _Array:
    """Share of the ordered scores above each score; equal ones count half."""
    below = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    return 1 - below / (2 * len(ordered))


def _largest_share(planted: _Array, m: int) -> float:
    """The smallest ratio of given to planted edges above a threshold, both shares at their bounds."""
    k = len(planted)
    hits, above = np.arange(1, k + 1), np.minimum(np.round(np.sort(planted) * m), m - 1)
    at_most = beta.ppf(1 - _DOUBT, above + 1, m - above)
    at_least = beta.ppf(_DOUBT, hits, k - hits + 1)
    return min(1.0, float(np.min(at_most / at_least)))


def _density_ratio(given: _Array, planted: _Array) -> _Array:
    """f/g at each given edge."""
    places = np.concatenate([given, planted])
    is_planted = np.concatenate([np.zeros(len(given)), np.ones(len(planted))])
    fitted = IsotonicRegression(increasing=False).fit(places, is_planted).predict(given)
    odds: _Array = fitted / np.maximum(1 - fitted, 1e-12)
    return odds * len(given) / len(planted)
