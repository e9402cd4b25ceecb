"""Boolean masks of a split."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor


def split_masks(
    num_nodes: int, train: NDArray[Any], val: NDArray[Any], test: NDArray[Any]
) -> dict[str, Tensor]:
    """Build `train_mask`, `val_mask` and `test_mask` from three arrays of node numbers."""
    masks = {}
    for name, nodes in (("train_mask", train), ("val_mask", val), ("test_mask", test)):
        masks[name] = torch.zeros(num_nodes, dtype=torch.bool)
        masks[name][torch.from_numpy(nodes)] = True
    return masks
