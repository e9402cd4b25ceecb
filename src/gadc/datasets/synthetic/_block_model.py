"""What the two random graph models share: checks, class sizes, features, masks and edges.

An undirected edge is one whole number, its key (see `gadc._base.pairs`), so that duplicates are found and
edges are sorted with 8 bytes per edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import edge_list
from gadc.datasets._masks import split_masks

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

_FEATURE_BLOCK = 65_536  # rows whose class means are added at once


def check_parameters(
    owner: str, num_nodes: int, num_classes: int, mean_degree: float, homophily: float, signal: float
) -> None:
    """Refuse parameters that no graph can have; `owner` is the function that the error names."""
    if not num_classes >= 1:
        raise ValueError(f"{owner}: num_classes must be >= 1, got {num_classes!r}.")
    if not num_nodes >= num_classes:
        raise ValueError(f"{owner}: num_nodes must be >= num_classes = {num_classes}, got {num_nodes!r}.")
    if not 0 < mean_degree < num_nodes:
        raise ValueError(
            f"{owner}: mean_degree must lie in (0, num_nodes = {num_nodes}), got {mean_degree!r}."
        )
    if not 0 <= homophily <= 1:
        raise ValueError(f"{owner}: homophily must lie in [0, 1], got {homophily!r}.")
    if not 0 <= signal < math.inf:
        raise ValueError(f"{owner}: signal must be >= 0 and finite, got {signal!r}.")


def check_density(owner: str, sizes: IntArray, inside: float, across: float, share: float) -> None:
    """Refuse more edges inside or across classes than `share` times the number of node pairs."""
    inside_pairs, across_pairs = count_pairs(sizes)
    for kind, edges, pairs in (("inside", inside, inside_pairs), ("across", across, across_pairs)):
        if edges > share * pairs:
            raise ValueError(
                f"{owner}: edges {kind} classes must be <= {share:g} times the {pairs} node pairs there, "
                f"but mean_degree and homophily give {edges:g}."
            )


def count_pairs(sizes: IntArray) -> tuple[int, int]:
    """Count the node pairs inside classes and across classes."""
    inside = int((sizes * (sizes - 1) // 2).sum())
    num_nodes = int(sizes.sum())
    return inside, num_nodes * (num_nodes - 1) // 2 - inside


def class_sizes(num_nodes: int, proportions: Sequence[float]) -> IntArray:
    """Divide nodes into classes by `proportions`; each size is off by less than one node."""
    ends = np.rint(np.cumsum(proportions) / np.sum(proportions) * num_nodes)
    sizes: IntArray = np.diff(ends, prepend=0).astype(np.int64)
    return sizes


def contextual_data(
    owner: str,
    keys: IntArray,
    labels: IntArray,
    *,
    num_classes: int,
    num_features: int,
    signal: float,
    split: tuple[float, float, float],
    rng: np.random.Generator,
) -> Data:
    """Add features around class means and random masks to a graph."""
    masks = _split_masks(owner, len(labels), split, rng)
    features = _features(owner, labels, num_classes, num_features, signal, rng)
    return Data(
        x=torch.from_numpy(features),
        edge_index=torch.from_numpy(edge_list(keys, len(labels))),
        y=torch.from_numpy(labels),
        **masks,
    )


def _features(
    owner: str, labels: IntArray, num_classes: int, num_features: int, signal: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Draw x_i = signal · μ_{y_i} + N(0, I) with unit vectors μ_c, orthogonal if features suffice."""
    if not num_features >= 1:
        raise ValueError(f"{owner}: num_features must be >= 1, got {num_features!r}.")
    means = rng.standard_normal((num_features, num_classes))
    if num_classes <= num_features:
        means = np.linalg.qr(means).Q
    means = (signal * means / np.linalg.norm(means, axis=0)).T.astype(np.float32)
    x = np.empty((len(labels), num_features), dtype=np.float32)
    rng.standard_normal(dtype=np.float32, out=x)
    for start in range(0, len(x), _FEATURE_BLOCK):
        x[start : start + _FEATURE_BLOCK] += means[labels[start : start + _FEATURE_BLOCK]]
    return x


def _split_masks(
    owner: str, num_nodes: int, split: tuple[float, float, float], rng: np.random.Generator
) -> dict[str, Tensor]:
    """Draw training, validation and test masks with the shares `split`."""
    if len(split) != 3 or not min(split) >= 0 or not math.isclose(sum(split), 1):
        raise ValueError(f"{owner}: split must be three shares >= 0 that sum to 1, got {split!r}.")
    order = rng.permutation(num_nodes)
    ends = np.rint(np.cumsum(split)[:2] * num_nodes).astype(np.int64)
    train, val, test = np.split(order, ends)
    return split_masks(num_nodes, train, val, test)
