"""Ranks over all edges from histograms, and the worst edges of each row range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta
from sklearn.isotonic import IsotonicRegression

from gadc._base.tasks import write_array, write_arrays
from gadc.packed._diffusion import DiffusionRun
from gadc.packed._edges._histogram import Histogram
from gadc.packed._edges._scores import (
    NAMES,
    RANKED,
    edges_of,
    make_pairs,
    read_histograms,
    rounded,
    score_pairs,
    write_histograms,
)

NUM_PLANTED = 100_000  # at most
_PLANTED_SHARE, _ROUNDS = 0.1, 3  # as in memory
_ERROR_RATE = 0.05  # of each bound
_BINS = 1 << 20  # per unit of the final score
RANKS = "edges/ranks.npz"

Floats = NDArray[np.float64]


def write_ranks(run: DiffusionRun) -> None:
    """Write the counts of the rounded scores of all edges, which say the rank of each score."""
    parts = [read_histograms(run.part("edges/counts", i, "npz")) for i in range(len(run.row_ranges))]
    merged = {name: Histogram.merged([part[name] for part in parts]) for name in RANKED}
    write_histograms(run.file(RANKS), merged)


def final_scores(
    run: DiffusionRun, scores: NDArray[np.float32], score: str, num_edges: int
) -> NDArray[np.floating]:
    """Return the score that edges are ordered by."""
    if score != "combined":
        chosen: NDArray[np.float32] = scores[NAMES.index(score)]
        return chosen
    counted = read_histograms(run.file(RANKS))
    ranks = [counted[name].ranks(rounded(scores[NAMES.index(name)])) for name in RANKED]
    mean: Floats = np.mean(ranks, axis=0) / max(num_edges, 1)
    return mean


def write_worst(run: DiffusionRun, number: int, score: str, top: int, num_edges: int) -> None:
    """Write the worst edges of a row range in the order of the range, and a histogram of the final scores."""
    scores = run.read("edges/scores", number)
    final = final_scores(run, scores, score, num_edges)
    chosen = highest(final, top)
    pairs, entries = edges_of(run, number)
    weights, counted = run.graph.weights, Histogram.of(final_bins(final))
    arrays = {
        "first": pairs.first[chosen],
        "second": pairs.second[chosen],
        "cosine": 1 - scores[0][chosen],
        "weight": np.ones(len(chosen), np.float32) if weights is None else weights[entries[chosen]],
        "score": final[chosen],
        "bins": counted.bins,
        "counts": counted.counts,
    }
    write_arrays(worst_file(run, number, score, top), arrays)


def worst_file(run: DiffusionRun, number: int, score: str, top: int) -> str:
    """Return the file of the worst edges of a row range."""
    return run.part(f"edges/worst-{score}-{top}", number, "npz")


def highest(scores: NDArray[np.floating], count: int) -> NDArray[np.int64]:
    """Return the places of the highest scores, ascending; among equal ones the first places count."""
    if len(scores) <= count:
        return np.arange(len(scores))
    threshold = np.partition(scores, len(scores) - count)[len(scores) - count]
    above = np.flatnonzero(scores > threshold)
    tied = np.flatnonzero(scores == threshold)[: count - len(above)]
    return np.sort(np.concatenate([above, tied]))


def final_bins(final: NDArray[np.floating]) -> NDArray[np.int64]:
    """Return final scores as whole numbers, fine enough to tell edges apart."""
    return np.asarray(np.rint(final * _BINS), dtype=np.int64)


def write_planted(run: DiffusionRun, seed: int, num_edges: int) -> None:
    """Score random pairs that are not edges, each as if it alone was an edge, shape (5, pairs)."""
    n = run.graph.num_nodes
    wanted = min(_ROUNDS * max(1, round(_PLANTED_SHARE * num_edges)), NUM_PLANTED)
    wanted = min(wanted, n * (n - 1) // 2 - num_edges) if num_edges else 0
    rng = np.random.default_rng(seed)
    keys = np.empty(0, dtype=np.int64)
    for _ in range(64):  # each draw of a sparse graph is a new non-edge almost always
        if len(keys) >= wanted:
            break
        ends = np.sort(rng.integers(n, size=(2 * wanted + 16, 2)), axis=1)
        keys = np.unique(np.concatenate([keys, _non_edges(run, ends[ends[:, 0] < ends[:, 1]])]))
    keys = np.sort(rng.permutation(keys)[:wanted])
    pairs = make_pairs(keys // max(n, 1), keys % max(n, 1), 0, n, n, planted=True)
    write_array(run.file(f"edges/planted-{seed}.npy"), score_pairs(run, pairs))


def _non_edges(run: DiffusionRun, ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the keys u n + v of the pairs that are not edges."""
    row_ptr, cols, n = run.graph.row_ptr, run.graph.cols, run.graph.num_nodes
    keep = []
    for u, v in ends.tolist():
        row = cols[row_ptr[u] : row_ptr[u + 1]]
        place = int(np.searchsorted(row, v))
        if place == len(row) or row[place] != v:
            keep.append(u * n + v)
    return np.array(keep, dtype=np.int64)


@dataclass(frozen=True)
class Calibration:
    """Probability that an edge of a given final score is false.

    Attributes:
        counted: Final scores of all edges.
        probability: One number per final score that occurs.
    """

    counted: Histogram
    probability: Floats

    @property
    def expected_false(self) -> float:
        """Sum of the probabilities of all edges."""
        return float((self.probability * self.counted.counts).sum())

    def of(self, final: NDArray[np.floating]) -> Floats:
        """Return the probabilities of edges with these final scores."""
        return self.probability[np.searchsorted(self.counted.bins, final_bins(final))]


def calibrate(counted: Histogram, planted: NDArray[np.floating]) -> Calibration:
    """Compare the final scores of all edges with those of the planted pairs.

    This is `gadc.robustness.edges.calibrate_scores` on a sample: pairs are scored as if each alone was an
    edge, and scores of edges are known up to a bin.
    """
    m = counted.total
    if not len(planted) or not m:
        return Calibration(counted, np.zeros(len(counted.bins)))
    given, of_planted = counted.shares_above(counted.bins), counted.shares_above(final_bins(planted))
    places = np.concatenate([given, of_planted])
    is_planted = np.concatenate([np.zeros(len(given)), np.ones(len(of_planted))])
    weight = np.concatenate([counted.counts, np.ones(len(of_planted))])
    fitted = IsotonicRegression(increasing=False).fit(places, is_planted, weight).predict(given)
    odds = fitted / np.maximum(1 - fitted, 1e-12) * m / len(of_planted)
    return Calibration(counted, np.minimum(1.0, _largest_share(of_planted, m) * odds))


def _largest_share(planted: Floats, m: int) -> float:
    """Find the smallest ratio of given to planted edges above a threshold, both shares at their bounds."""
    k = len(planted)
    hits, above = np.arange(1, k + 1), np.minimum(np.round(np.sort(planted) * m), m - 1)
    at_most = beta.ppf(1 - _ERROR_RATE, above + 1, m - above)
    at_least = beta.ppf(_ERROR_RATE, hits, k - hits + 1)
    return min(1.0, float(np.min(at_most / at_least)))
