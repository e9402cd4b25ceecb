"""Contextual stochastic block model: communities in the edges, class means in the features.

    P(u ~ v) = p if y_u = y_v else q,    x_u = signal · μ_{y_u} + N(0, I)

(Deshpande, Sen, Montanari and Mossel, "Contextual Stochastic Block Models", NeurIPS 2018). p and q follow
from the mean degree and the homophily wanted. Each pair of classes draws its number of edges from a binomial
and then that many distinct node pairs, which is the model exactly and takes O(edges), never n × n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np
from torch_geometric.data import Data

from gadc._base.pairs import undirected_keys
from gadc.datasets.synthetic._block_model import (
    IntArray,
    check_density,
    check_knobs,
    class_sizes,
    contextual_data,
    count_pairs,
)


def csbm(
    num_nodes: int,
    *,
    num_classes: int = 2,
    mean_degree: float = 10.0,
    homophily: float = 0.8,
    num_features: int = 16,
    signal: float = 1.0,
    proportions: Sequence[float] | None = None,
    split: tuple[float, float, float] = (0.6, 0.2, 0.2),
    seed: int = 0,
) -> Data:
    """Sample a contextual stochastic block model.

    Args:
        num_nodes: Number of nodes n.
        num_classes: Number of classes.
        mean_degree: Expected mean degree.
        homophily: Expected share of edges inside classes, in [0, 1]; with a single class it must be 1.
        num_features: Number of features d.
        signal: Length of the class means; the noise of every feature has variance 1.
        proportions: Relative class sizes; equal when absent.
        split: Shares of training, validation and test nodes.
        seed: Seed of everything random.

    Returns:
        Undirected simple graph with `x`, `y` and masks; `edge_index` has both directions, sorted by row.
    """
    check_knobs("csbm", num_nodes, num_classes, mean_degree, homophily, signal)
    sizes = _sizes(num_nodes, num_classes, proportions)
    num_edges = num_nodes * mean_degree / 2
    inside, across = homophily * num_edges, (1 - homophily) * num_edges
    check_density("csbm", sizes, inside, across, share=1.0)
    inside_pairs, across_pairs = count_pairs(sizes)
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(num_classes), sizes))
    keys = _edges(labels, sizes, inside / max(inside_pairs, 1), across / max(across_pairs, 1), rng)
    return contextual_data(
        "csbm",
        keys,
        labels,
        num_classes=num_classes,
        num_features=num_features,
        signal=signal,
        split=split,
        rng=rng,
    )


def _sizes(num_nodes: int, num_classes: int, proportions: Sequence[float] | None) -> IntArray:
    shares = [1.0] * num_classes if proportions is None else list(proportions)
    if len(shares) != num_classes or not all(0 < share < math.inf for share in shares):
        raise ValueError(f"csbm: proportions must be {num_classes} positive numbers, got {proportions!r}.")
    sizes = class_sizes(num_nodes, shares)
    if sizes.min() == 0:
        raise ValueError(
            f"csbm: every class needs a node, but proportions {shares} of {num_nodes} give {sizes.tolist()}."
        )
    return sizes


def _edges(
    labels: IntArray, sizes: IntArray, p_inside: float, p_across: float, rng: np.random.Generator
) -> IntArray:
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    keys = []
    for a, b in combinations_with_replacement(range(len(sizes)), 2):
        if a == b:
            ranks = _distinct(int(sizes[a] * (sizes[a] - 1) // 2), p_inside, rng)
            first, second = _unrank_pairs(ranks)
        else:
            ranks = _distinct(int(sizes[a] * sizes[b]), p_across, rng)
            first, second = np.divmod(ranks, sizes[b])
        keys.append(undirected_keys((members[a][first], members[b][second]), len(labels)))
    return np.concatenate(keys)


def _distinct(population: int, probability: float, rng: np.random.Generator) -> IntArray:
    """Keep each of range(population) with the given probability, in time and memory of what is kept."""
    kept = rng.binomial(population, probability)
    return rng.choice(population, size=kept, replace=False, shuffle=False)


def _unrank_pairs(ranks: IntArray) -> tuple[IntArray, IntArray]:
    """The pairs (i, j), j < i, at places i(i - 1)/2 + j."""
    i = ((1 + np.sqrt(1 + 8 * ranks.astype(np.float64))) / 2).astype(np.int64)
    i -= i * (i - 1) // 2 > ranks  # the square root rounds
    i += i * (i + 1) // 2 <= ranks
    return i, ranks - i * (i - 1) // 2
