"""Dropout's mask, applied while it is made: one pass over the entries where torch needs four."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor

from gadc.kernels.backend import uses_numba

_PASSES = 4  # of torch: compare, convert, scale, multiply
_ENTRIES = 1 << 20  # a thread takes at a time


def masked(x: Tensor, bits: Tensor, least: int, scale: float) -> Tensor:
    """`scale` · x where bits >= least, and 0 elsewhere.

    Args:
        x: Any shape.
        bits: An int16 for each of its entries, flat.
        least: The smallest that keeps its entry.
        scale: What kept entries are multiplied by.
    """
    recorded = torch.is_grad_enabled() and x.requires_grad
    if not recorded and uses_numba(_PASSES * x.numel(), x):
        return _in_one_pass(x, bits, least, scale)
    keep = bits.view(x.shape) >= least
    return x * keep.to(x.dtype).mul_(scale)


def _in_one_pass(x: Tensor, bits: Tensor, least: int, scale: float) -> Tensor:
    from gadc.kernels import loops, numba_csr  # importing Numba takes a second, so only where it is used

    out = numba_csr.empty(tuple(x.shape), x.dtype)
    number = np.float64 if x.dtype == torch.float64 else np.float32
    arrays = numba_csr.flat(x), bits.numpy(), np.int16(least), number(scale), out.view(-1).numpy()
    starts = range(0, x.numel(), _ENTRIES)
    numba_csr.run([partial(loops.mask, *arrays, a, min(a + _ENTRIES, x.numel())) for a in starts])
    return out
