"""Dropout's mask, applied while it is made: one pass over the entries where torch needs four.

Of large matrices even the random bits are made on the way, a range of entries at a time.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gadc.operators._backend import uses_numba
from gadc.operators._numba.splitmix import scrambled

_PASSES = 4  # of torch: compare, convert, scale, multiply
_ENTRIES = 1 << 16  # a thread takes at a time: with their bits they fit a core's cache
_PER_WORD = 4  # entries that a 64-bit number decides on


def masked(x: Tensor, bits: Tensor | int, least: int, scale: float) -> Tensor:
    """`scale` · x where bits >= least, and 0 elsewhere.

    Args:
        x: Any shape.
        bits: An int16 for each of its entries, flat; or a key they are made of.
        least: The smallest that keeps its entry.
        scale: What kept entries are multiplied by.
    """
    recorded = torch.is_grad_enabled() and x.requires_grad
    if not recorded and uses_numba(_PASSES * x.numel(), x):
        return _in_one_pass(x, bits, least, scale)
    if isinstance(bits, int):
        bits = _all_bits(bits, x.numel()).to(x.device)
    keep = bits.view(x.shape) >= least
    return x * keep.to(x.dtype).mul_(scale)


def _in_one_pass(x: Tensor, bits: Tensor | int, least: int, scale: float) -> Tensor:
    from gadc.operators._numba import csr as numba_csr
    from gadc.operators._numba import loops  # importing Numba takes a second, so only where it is used

    out = numba_csr.empty(tuple(x.shape), x.dtype)
    number = np.float64 if x.dtype == torch.float64 else np.float32
    entries, results = numba_csr.flat(x), out.view(-1).numpy()

    def mask(starts: range) -> None:
        for start in starts:
            part = slice(start, start + _ENTRIES)
            kept = _bits(bits, start) if isinstance(bits, int) else bits[part].numpy()
            loops.mask(entries[part], kept, np.int16(least), number(scale), results[part])

    # A job of its own for each part would keep the threads busy with handing over.
    starts, jobs = range(0, x.numel(), _ENTRIES), numba_csr.RANGES_PER_THREAD * torch.get_num_threads()
    numba_csr.run([partial(mask, starts[k::jobs]) for k in range(jobs)])
    return out


def _bits(key: int, start: int) -> Any:
    """Those of `_ENTRIES` entries."""
    from gadc.operators._numba import loops

    words = np.empty(_ENTRIES // _PER_WORD, np.uint64)
    loops.random_words(words, np.uint64(key), np.uint64(start // _PER_WORD))
    return words.view(np.int16)


def _all_bits(key: int, count: int) -> Tensor:
    """Those of `count` entries, without Numba."""
    places = np.arange(count // _PER_WORD + 1, dtype=np.uint64)
    return torch.from_numpy(scrambled(np.uint64(key), places).view(np.int16)[:count])
