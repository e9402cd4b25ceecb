"""Splits as roles: one small number per node says whether it trains, validates or tests."""

from typing import Any

import numpy as np

from gadc.datasets.named._raw_graph import Array

TRAIN, VAL, TEST = 1, 2, 3  # 0 = no role


def roles(train: Array, val: Array, test: Array) -> Array:
    """Convert three masks to one role per node, or k × n masks to k × n roles.

    Raises:
        ValueError: A node is in two masks.
    """
    train, val, test = (np.asarray(mask, dtype=bool).astype(np.int8) for mask in (train, val, test))
    if np.any(train + val + test > 1):
        raise ValueError("split: a node must be in at most one of train, val and test.")
    return np.asarray(TRAIN * train + VAL * val + TEST * test)


def roles_from_indices(num_nodes: int, train: Any, val: Any, test: Any) -> Array:
    """Convert three lists of node numbers to one role per node."""
    masks = np.zeros((3, num_nodes), dtype=bool)
    for mask, nodes in zip(masks, (train, val, test), strict=True):
        mask[np.asarray(nodes, dtype=np.int64)] = True
    return roles(*masks)
