"""Large graphs with power-law degrees, homophilous labels and noisy features.

Degree-corrected block model (Karrer and Newman, Phys. Rev. E 83, 2011) with expected degrees w_i as in Chung
and Lu (PNAS 99, 2002). Independent edges are drawn until the wanted number of distinct ones is there,

    inside classes:  P(i, j) ∝ w_i w_j / W_c,    y_i = y_j = c,    W_c = Σ_{y_k = c} w_k
    across classes:  P(i, j) ∝ w_i w_j,          y_i ≠ y_j

so the number of edges and the homophily are exact up to rounding to whole edges. The w_i follow a power law
cut at √(Σ w), beyond which the probabilities w_i w_j / Σ w of Chung and Lu would exceed 1. Endpoints are
drawn as multinomial counts and a shuffle, with no search per edge: O(nodes + edges) and a sort.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from torch_geometric.data import Data

from gadc._base.pairs import undirected_keys
from gadc.datasets.synthetic._block_model import (
    FloatArray,
    IntArray,
    check_density,
    check_knobs,
    class_sizes,
    contextual_data,
)

_MAX_ROUNDS = 500  # a round redraws what was rejected, so the missing part shrinks geometrically
_MAX_DENSITY = 0.5  # above, most draws repeat an edge that is there


def power_law(
    num_nodes: int,
    mean_degree: float,
    *,
    exponent: float = 2.5,
    num_classes: int = 10,
    homophily: float = 0.8,
    num_features: int = 100,
    signal: float = 1.0,
    split: tuple[float, float, float] = (0.6, 0.2, 0.2),
    seed: int = 0,
) -> Data:
    """Sample a degree-corrected block model with power-law degrees.

    `power_law(2_449_029, 50.52, num_classes=47)` has the size of ogbn-products.

    Args:
        num_nodes: Number of nodes n.
        mean_degree: Mean degree; the graph has round(n · mean_degree / 2) undirected edges.
        exponent: γ > 2 of the density w^-γ of expected degrees.
        num_classes: Number of classes, of equal size up to one node.
        homophily: Share of edges inside classes, in [0, 1]; with a single class it must be 1.
        num_features: Number of features d.
        signal: Length of the class means; the noise of every feature has variance 1.
        split: Shares of training, validation and test nodes.
        seed: Seed of everything random.

    Returns:
        Undirected simple graph with `x`, `y` and masks; `edge_index` has both directions, sorted by row.
        Nodes of small weight may be isolated. As repeated edges are drawn anew, the largest hubs fall short
        of their expected degree.
    """
    check_knobs("power_law", num_nodes, num_classes, mean_degree, homophily, signal)
    if not 2 < exponent < np.inf:
        raise ValueError(f"power_law: exponent must be > 2 and finite, got {exponent!r}.")
    sizes = class_sizes(num_nodes, [1.0] * num_classes)
    num_edges = round(num_nodes * mean_degree / 2)
    inside = round(homophily * num_edges)
    check_density("power_law", sizes, inside, num_edges - inside, share=_MAX_DENSITY)
    rng = np.random.default_rng(seed)
    sampler = _EdgeSampler(
        weights=_expected_degrees(num_nodes, mean_degree, exponent, rng),
        nodes=rng.permutation(num_nodes),
        sizes=sizes,
        rng=rng,
    )
    keys = np.concatenate(
        [_draw_distinct(sampler.inside, inside), _draw_distinct(sampler.across, num_edges - inside)]
    )
    return contextual_data(
        "power_law",
        keys,
        sampler.labels(),
        num_classes=num_classes,
        num_features=num_features,
        signal=signal,
        split=split,
        rng=rng,
    )


@dataclass(frozen=True, kw_only=True)
class _EdgeSampler:
    """Draws keys of edges that may repeat; everything is in order of class.

    Args:
        weights: Expected degrees.
        nodes: Number of each node in the graph.
        sizes: Nodes of each class.
        rng: Source of randomness.
    """

    weights: FloatArray
    nodes: IntArray
    sizes: IntArray
    rng: np.random.Generator

    def labels(self) -> IntArray:
        """Class of every node of the graph."""
        labels = np.empty_like(self.nodes)
        labels[self.nodes] = self._classes()
        return labels

    def inside(self, count: int) -> IntArray:
        """At most `count` edges inside classes: an end among all nodes, the other one in its class."""
        ends = self._counts(count, self.weights)
        cuts = np.cumsum(self.sizes)[:-1]
        parts = zip(
            np.split(self.nodes, cuts), np.split(self.weights, cuts), np.split(ends, cuts), strict=True
        )
        partners = [self._shuffled(nodes, int(mine.sum()), weights) for nodes, weights, mine in parts]
        u, v = np.repeat(self.nodes, ends), np.concatenate(partners)
        proper = u != v
        keys: IntArray = undirected_keys((u[proper], v[proper]), len(self.nodes))
        return keys

    def across(self, count: int) -> IntArray:
        """At most `count` edges across classes: two ends among all nodes, kept where the classes differ."""
        places = np.arange(len(self.nodes))
        u = np.repeat(places, self._counts(count, self.weights))
        v = self._shuffled(places, count, self.weights)
        classes = self._classes()
        proper = classes[u] != classes[v]
        ends = self.nodes[u[proper]], self.nodes[v[proper]]
        keys: IntArray = undirected_keys(ends, len(self.nodes))
        return keys

    def _classes(self) -> IntArray:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def _counts(self, count: int, weights: FloatArray) -> IntArray:
        return self.rng.multinomial(count, weights / weights.sum())

    def _shuffled(self, nodes: IntArray, count: int, weights: FloatArray) -> IntArray:
        """Independent draws from `nodes`: how often each comes, then in which order."""
        drawn = np.repeat(nodes, self._counts(count, weights))
        self.rng.shuffle(drawn)
        return drawn


def _expected_degrees(num_nodes: int, mean: float, exponent: float, rng: np.random.Generator) -> FloatArray:
    """Pareto weights with density ∝ w^-γ on [low, √(n · mean)], with `low` such that the mean is right."""
    alpha, high = exponent - 1, np.sqrt(num_nodes * mean)

    def excess(low: float) -> float:
        ratio = (low / high) ** alpha
        return float(alpha / (alpha - 1) * (low - ratio * high) / (1 - ratio) - mean)

    low = brentq(excess, 1e-9 * mean, mean)
    tail = rng.uniform((low / high) ** alpha, 1.0, size=num_nodes)
    return np.asarray(low * tail ** (-1 / alpha))


def _draw_distinct(draw: Callable[[int], IntArray], count: int) -> IntArray:
    """Repeat `draw`, which gives at most as many keys as asked, until `count` distinct keys are there."""
    keys = np.empty(0, dtype=np.int64)
    for _ in range(_MAX_ROUNDS):
        if len(keys) == count:
            return keys
        batch = draw(count - len(keys))
        batch.sort()
        keys = np.concatenate([keys, batch])
        keys.sort(kind="stable")  # timsort merges the two sorted runs in linear time
        new = np.ones(len(keys), dtype=np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=new[1:])
        keys = keys[new]
    raise ValueError(
        f"power_law: too dense: {len(keys)} of {count} distinct edges after {_MAX_ROUNDS} rounds of drawing; "
        "lower mean_degree or raise num_nodes or exponent."
    )
