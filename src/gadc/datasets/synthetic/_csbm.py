"""Contextual stochastic block model: communities in the edges, class means in the features.

    P(u ~ v) = p if y_u = y_v else q,    x_u = signal · μ_{y_u} + N(0, I)

(Deshpande, Sen, Montanari and Mossel, "Contextual Stochastic Block Models", NeurIPS 2018). The mean degree
and the homophily determine p and q. Each pair of classes draws its number of edges from a binomial
distribution, and then as many distinct node pairs: this is the model exactly, in O(edges) instead of O(n²).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np
import torch
from torch_geometric.data import Data

from gadc._base.pairs import pair_ends, undirected_keys
from gadc.datasets.synthetic._block_model import (
    IntArray,
    check_density,
    check_parameters,
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
        num_classes: Number of classes, 2 by default.
        mean_degree: Expected mean degree, 10 by default.
        homophily: Expected share of edges inside classes, in [0, 1]; 0.8 by default. With a single class it
            must be 1.
        num_features: Number of features d, 16 by default.
        signal: Length of the class means, 1 by default; the noise of each feature has variance 1.
        proportions: Relative class sizes; equal by default.
        split: Shares of training, validation and test nodes; (0.6, 0.2, 0.2) by default.
        seed: Seed of all random numbers, 0 by default.

    Returns:
        Undirected graph without self-loops and duplicates, with `x` (n, d), `y` and masks; `edge_index` has
        both directions, sorted by row.

    Examples:
        >>> from gadc.datasets import csbm
        >>> data = csbm(500, num_classes=5, mean_degree=8.0, homophily=0.9, seed=1)
        >>> data.x.shape, data.is_undirected()
        (torch.Size([500, 16]), True)
    """
    check_parameters("csbm", num_nodes, num_classes, mean_degree, homophily, signal)
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
    """Return the class sizes; every class has a node."""
    shares = [1.0] * num_classes if proportions is None else list(proportions)
    if len(shares) != num_classes or not all(0 < share < math.inf for share in shares):
        raise ValueError(f"csbm: proportions must be {num_classes} positive numbers, got {proportions!r}.")
    sizes = class_sizes(num_nodes, shares)
    if sizes.min() == 0:
        raise ValueError(
            f"csbm: every class must have a node, but proportions {shares} of {num_nodes} nodes give "
            f"{sizes.tolist()}."
        )
    return sizes


def _edges(
    labels: IntArray, sizes: IntArray, p_inside: float, p_across: float, rng: np.random.Generator
) -> IntArray:
    """Draw the keys of the edges, pair of classes by pair of classes."""
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    keys = []
    for a, b in combinations_with_replacement(range(len(sizes)), 2):
        if a == b:
            ranks = _distinct(int(sizes[a] * (sizes[a] - 1) // 2), p_inside, rng)
            first, second = pair_ends(torch.from_numpy(ranks)).numpy()
        else:
            ranks = _distinct(int(sizes[a] * sizes[b]), p_across, rng)
            first, second = np.divmod(ranks, sizes[b])
        keys.append(undirected_keys((members[a][first], members[b][second]), len(labels)))
    return np.concatenate(keys)


def _distinct(population: int, probability: float, rng: np.random.Generator) -> IntArray:
    """Keep each number below `population` with a probability; time and memory are O(kept numbers)."""
    kept = rng.binomial(population, probability)
    return rng.choice(population, size=kept, replace=False, shuffle=False)
