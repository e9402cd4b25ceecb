"""Handwritten digits on a k-nearest-neighbour graph: a real data set that comes with scikit-learn.

1797 images of 8 × 8 pixels in 10 classes (Alpaydin and Kaynak, "Optical Recognition of Handwritten Digits",
UCI Machine Learning Repository, 1998).
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from torch import Tensor
from torch_geometric.data import Data

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
    """Load the digits with pixels in [0, 1] and connect every image with its nearest ones.

    Args:
        neighbors: Number k of Euclidean neighbours of an image; one end of an edge is among the other's k. Of
            images at equal distance the earlier ones are taken.
        labels_per_class: Training images of each class.
        split: Only `"random"`: training images drawn by class, 500 for validation, the rest for testing.
        seed: Seed of the split.
        graph_from: Features (1797 rows) whose neighbours make the graph; the clean pixels when absent. Give
            noisy pixels here where a model is to see only noisy pixels.

    Returns:
        Undirected simple graph with `x`, `y` and masks; `edge_index` has both directions, sorted by row.
    """
    if split != "random":
        raise ValueError(f"digits: split must be 'random', got {split!r}.")
    pixels, targets = load_digits(return_X_y=True)
    pixels = pixels / _MAX_PIXEL
    points = pixels if graph_from is None else graph_from.detach().cpu().numpy()
    return Data(
        x=torch.from_numpy(pixels.astype(np.float32)),
        edge_index=_neighbor_edges(points, len(pixels), neighbors),
        y=torch.from_numpy(targets.astype(np.int64)),
        **_masks(targets, labels_per_class, seed),
    )


def _neighbor_edges(points: NDArray[np.floating], num_nodes: int, neighbors: int) -> Tensor:
    if points.ndim != 2 or len(points) != num_nodes:
        raise ValueError(f"digits: graph_from must have shape [{num_nodes}, d], got {list(points.shape)}.")
    if not 1 <= neighbors < num_nodes:
        raise ValueError(f"digits: neighbors must lie in [1, {num_nodes - 1}], got {neighbors!r}.")
    # Clean pixels are multiples of 1/16, so all of this is exact, in whatever order it is summed: equal
    # distances come out equal, and the lower index wins. (Equal distances are common among these images.)
    points = points.astype(np.float64)
    squares = (points**2).sum(1)
    distances = squares[:, None] + squares - 2 * (points @ points.T)
    np.fill_diagonal(distances, np.inf)
    chosen = distances.argsort(axis=1, kind="stable")[:, :neighbors]
    joined = np.zeros(distances.shape, dtype=bool)
    np.put_along_axis(joined, chosen, True, axis=1)
    return torch.from_numpy(np.stack(np.nonzero(joined | joined.T)))


def _masks(targets: NDArray[np.int64], labels_per_class: int, seed: int) -> dict[str, Tensor]:
    smallest = int(np.bincount(targets).min())
    limit = min(smallest, (len(targets) - _NUM_VAL - 1) // 10)
    if not 1 <= labels_per_class <= limit:
        raise ValueError(f"digits: labels_per_class must lie in [1, {limit}], got {labels_per_class!r}.")
    order = np.random.default_rng(seed).permutation(len(targets))
    train = np.concatenate([order[targets[order] == label][:labels_per_class] for label in range(10)])
    rest = order[~np.isin(order, train)]
    masks = {}
    for name, nodes in (("train_mask", train), ("val_mask", rest[:_NUM_VAL]), ("test_mask", rest[_NUM_VAL:])):
        masks[name] = torch.zeros(len(targets), dtype=torch.bool)
        masks[name][torch.from_numpy(nodes)] = True
    return masks
