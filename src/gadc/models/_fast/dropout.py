"""Dropout for dense tensors and sparse features, faster on a CPU than `torch.nn.functional.dropout`.

One 64-bit random number decides on four entries, so a probability is met to 1/65536. The random numbers come
from torch's global generator, so `torch.manual_seed` makes dropout reproducible.
"""

from __future__ import annotations

from dataclasses import replace
from typing import overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gadc.models._fast.sparse_features import SparseFeatures

_LEVELS = 65536  # values of the 16 random bits that decide on one entry
_ENTRIES_PER_WORD = 4
_MANY = 5_000_000  # entries from which a hash of their positions is faster than torch's generator
_BLOCK = 1 << 14  # words hashed at a time, so that they stay in a core's cache
_STEP, _FIRST, _SECOND = map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_30, _27, _31 = map(np.uint64, (30, 27, 31))


@overload
def drop(x: Tensor, probability: float, *, training: bool = True) -> Tensor: ...
@overload
def drop(x: SparseFeatures, probability: float, *, training: bool = True) -> SparseFeatures: ...
def drop(x: Tensor | SparseFeatures, probability: float, *, training: bool = True) -> Tensor | SparseFeatures:
    """Zero each entry with the given probability p and scale the others by 1/(1-p).

    Args:
        x: Dense tensor of any shape, or sparse features, of which only the stored entries are dropped.
        probability: Probability p of an entry to become 0, in [0, 1).
        training: Whether to drop at all; if False, `x` is returned unchanged.
    """
    if not training or probability == 0:
        return x
    if isinstance(x, SparseFeatures):
        return replace(x, values=drop(x.values, probability))
    least, scale = min(round(probability * _LEVELS), _LEVELS - 1) - _LEVELS // 2, 1 / (1 - probability)
    if x.numel() >= _MANY and x.device.type == "cpu":
        factors = _hashed_factors(x, least, scale)
    else:
        count = x.numel() // _ENTRIES_PER_WORD + 1
        words = torch.randint(-(2**63), 2**63 - 1, (count,), dtype=torch.int64, device=x.device)
        factors = (words.view(torch.int16)[: x.numel()] >= least).to(x.dtype).mul_(scale)
    factors = factors.view(x.shape)
    return x * factors if x.requires_grad else factors.mul_(x)


def _hashed_factors(x: Tensor, least: int, scale: float) -> Tensor:
    """Draw a factor, 0 or `scale`, for each entry of `x`, from one random key and the entry's position."""
    key = np.uint64(int(torch.randint(2**63 - 1, ())))
    # NumPy asks for huge pages, which saves most of the page faults of a large array.
    factors = torch.from_numpy(np.empty(x.numel(), np.float64 if x.dtype == torch.float64 else np.float32))
    size = _BLOCK * _ENTRIES_PER_WORD
    for start in range(0, x.numel(), size):
        part = factors[start : start + size]
        first = start // _ENTRIES_PER_WORD
        bits = torch.from_numpy(splitmix64(key, first, first + _BLOCK).view(np.int16))
        torch.mul(bits[: len(part)] >= least, scale, out=part)
    return factors


def splitmix64(key: np.uint64, start: int, stop: int) -> NDArray[np.uint64]:
    """Return the random words `start` to `stop` - 1 of the sequence that belongs to `key`.

    Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    words = key + np.arange(start, stop, dtype=np.uint64) * _STEP
    words = (words ^ (words >> _30)) * _FIRST
    words = (words ^ (words >> _27)) * _SECOND
    return words ^ (words >> _31)
