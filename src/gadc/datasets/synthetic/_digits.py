"""Handwritten digits on a k-nearest-neighbour graph: real data that come with scikit-learn.

1797 images of 8 × 8 pixels in 10 classes (Alpaydin and Kaynak, "Optical Recognition of Handwritten Digits",
UCI Machine Learning Repository, 1998).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from torch import Tensor
from torch_geometric.data import Data

from gadc.datasets._masks import split_masks

_MAX_PIXEL = 16.0
_NUM_VAL = 500


def digits(
    *,
    neighbors: int = 10,
    labels_per_class: int = 20,
    split: str = "random",
    seed: int = 0,
    graph_from: Tensor | None = None,
) -> Data:
    """Load the digits with pixels in [0, 1] and join each image with its nearest images.

    Args:
        neighbors: Number k of nearest images, 10 by default. Two images are joined if one is among the k
            nearest of the other by Euclidean distance; of images at equal distance the earlier ones are
            nearest.
        labels_per_class: Number of training images of each class, 20 by default.
        split: Only "random": training images drawn by class, 500 images for validation, the rest for testing.
        seed: Seed of the split, 0 by default.
        graph_from: Features (1797, d) whose nearest neighbours make the graph; the clean pixels by default.
            Pass noisy pixels if a model must not see clean ones, not even in the graph.

    Returns:
        Undirected graph without self-loops and duplicates, with `x` (1797, 64), `y` and masks; `edge_index`
        has both directions, sorted by row.

    Examples:
        >>> from gadc.datasets import digits
        >>> data = digits(labels_per_class=5)
        >>> data.num_nodes, int(data.train_mask.sum())
        (1797, 50)
    """
    if split != "random":
        raise ValueError(f"digits: split must be 'random', got {split!r}.")
    pixels, targets = load_digits(return_X_y=True)
    masks = _masks(targets, labels_per_class, seed)  # first, as it checks an argument
    pixels = pixels / _MAX_PIXEL
    if graph_from is None:
        edge_index = _clean_edges(neighbors).clone()
    else:
        edge_index = _neighbor_edges(graph_from.detach().cpu().numpy(), len(pixels), neighbors)
    return Data(
        x=torch.from_numpy(pixels.astype(np.float32)),
        edge_index=edge_index,
        y=torch.from_numpy(targets.astype(np.int64)),
        **masks,
    )


@lru_cache(maxsize=4)
def _clean_edges(neighbors: int) -> Tensor:
    """Return the edges among the clean images, which splits and seeds do not change."""
    pixels = load_digits(return_X_y=True)[0] / _MAX_PIXEL
    return _neighbor_edges(pixels, len(pixels), neighbors)


def _neighbor_edges(points: NDArray[np.floating], num_nodes: int, neighbors: int) -> Tensor:
    """Join each point with its nearest points."""
    if points.ndim != 2 or len(points) != num_nodes:
        raise ValueError(f"digits: graph_from must have shape [{num_nodes}, d], got {list(points.shape)}.")
    if not 1 <= neighbors < num_nodes:
        raise ValueError(f"digits: neighbors must lie in [1, {num_nodes - 1}], got {neighbors!r}.")
    # Clean pixels are multiples of 1/16, so distances are exact in any order of summation: equal distances,
    # which are common among these images, are found equal, and the lower index comes first.
    points = points.astype(np.float64)
    squares = (points**2).sum(1)
    distances = squares[:, None] + squares - 2 * (points @ points.T)
    np.fill_diagonal(distances, np.inf)
    chosen = distances.argsort(axis=1, kind="stable")[:, :neighbors]
    joined = np.zeros(distances.shape, dtype=bool)
    np.put_along_axis(joined, chosen, True, axis=1)
    return torch.from_numpy(np.stack(np.nonzero(joined | joined.T)))


def _masks(targets: NDArray[np.int64], labels_per_class: int, seed: int) -> dict[str, Tensor]:
    """Draw training images by class, then validation images."""
    smallest = int(np.bincount(targets).min())
    limit = min(smallest, (len(targets) - _NUM_VAL - 1) // 10)
    if not 1 <= labels_per_class <= limit:
        raise ValueError(f"digits: labels_per_class must lie in [1, {limit}], got {labels_per_class!r}.")
    order = np.random.default_rng(seed).permutation(len(targets))
    train = np.concatenate([order[targets[order] == label][:labels_per_class] for label in range(10)])
    rest = order[~np.isin(order, train)]
    return split_masks(len(targets), train, rest[:_NUM_VAL], rest[_NUM_VAL:])
