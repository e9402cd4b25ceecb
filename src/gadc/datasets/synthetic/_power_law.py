"""Large graphs with power-law degrees, homophilous labels and noisy features.

Degree-corrected block model (Karrer and Newman, Phys. Rev. E 83, 2011) with expected degrees w_i as in Chung
and Lu (PNAS 99, 2002). Independent edges are drawn until the required number of distinct edges is reached:

    inside classes:  P(i, j) ∝ w_i w_j / W_c,    y_i = y_j = c,    W_c = Σ_{y_k = c} w_k
    across classes:  P(i, j) ∝ w_i w_j,          y_i ≠ y_j

The number of edges and the homophily are therefore exact, up to rounding to whole edges. The w_i follow a
power law up to √(Σ w), above which the probabilities w_i w_j / Σ w of Chung and Lu would exceed 1. Ends of
edges are drawn as multinomial counts that are then shuffled, without a search per edge: O(nodes + edges) and
a sort.
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
    check_parameters,
    class_sizes,
    contextual_data,
)

_MAX_ROUNDS = 500  # each round replaces the rejected edges, whose number shrinks geometrically
_MAX_DENSITY = 0.5  # above this share of all pairs, most draws repeat an edge


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
        exponent: Exponent γ > 2 of the density w^-γ of expected degrees, 2.5 by default.
        num_classes: Number of classes, of equal size up to one node; 10 by default.
        homophily: Share of edges inside classes, in [0, 1]; 0.8 by default. With a single class it must be 1.
        num_features: Number of features d, 100 by default.
        signal: Length of the class means, 1 by default; the noise of each feature has variance 1.
        split: Shares of training, validation and test nodes; (0.6, 0.2, 0.2) by default.
        seed: Seed of all random numbers, 0 by default.

    Returns:
        Undirected graph without self-loops and duplicates, with `x` (n, d), `y` and masks; `edge_index` has
        both directions, sorted by row. Nodes of small weight may be isolated. Because repeated edges are
        drawn again, the largest hubs have fewer edges than expected.

    Examples:
        >>> from gadc.datasets import power_law
        >>> data = power_law(1000, 6.0, num_features=8)
        >>> data.num_edges, data.x.shape
        (6000, torch.Size([1000, 8]))
    """
    check_parameters("power_law", num_nodes, num_classes, mean_degree, homophily, signal)
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
    """Draw keys of edges that may repeat; all arrays are sorted by class.

    Args:
        weights: Expected degrees.
        nodes: The nodes of the graph.
        sizes: Number of nodes of each class.
        rng: Random number generator.
    """

    weights: FloatArray
    nodes: IntArray
    sizes: IntArray
    rng: np.random.Generator

    def labels(self) -> IntArray:
        """Return the class of each node of the graph."""
        labels = np.empty_like(self.nodes)
        labels[self.nodes] = self._classes()
        return labels

    def inside(self, count: int) -> IntArray:
        """Draw at most `count` edges inside classes: one end among all nodes, the other in its class."""
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
        """Draw at most `count` edges across classes: two ends among all nodes, of different classes."""
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
        """Draw `count` nodes independently: first how often each occurs, then their order."""
        drawn = np.repeat(nodes, self._counts(count, weights))
        self.rng.shuffle(drawn)
        return drawn


def _expected_degrees(num_nodes: int, mean: float, exponent: float, rng: np.random.Generator) -> FloatArray:
    """Draw Pareto weights with density ∝ w^-γ on [low, √(n · mean)], where `low` gives the mean."""
    alpha, high = exponent - 1, np.sqrt(num_nodes * mean)

    def excess(low: float) -> float:
        ratio = (low / high) ** alpha
        return float(alpha / (alpha - 1) * (low - ratio * high) / (1 - ratio) - mean)

    low = brentq(excess, 1e-9 * mean, mean)
    tail = rng.uniform((low / high) ** alpha, 1.0, size=num_nodes)
    return np.asarray(low * tail ** (-1 / alpha))


def _draw_distinct(draw: Callable[[int], IntArray], count: int) -> IntArray:
    """Call `draw`, which returns at most the requested number of keys, until `count` are distinct."""
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
        f"power_law: too dense a graph: {len(keys)} of {count} distinct edges after {_MAX_ROUNDS} rounds "
        "of drawing; lower mean_degree, or raise num_nodes or exponent."
    )
