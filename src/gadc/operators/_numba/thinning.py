"""Linear maps of features that dropout thins, without forming what is left of them.

    X W = (M ⊙ X) W + (X - M ⊙ X) W        M: a random 0 or 1 an entry

Each entry belongs to one part, so both are made at the cost of X W alone: the first is what a step of
training needs, their sum what an evaluation with the same weights needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from gadc.operators._numba import loops_thinning as loops
from gadc.operators._numba.csr import RANGES_PER_THREAD, flat, run
from gadc.operators._numba.registers import as_rows

_WIDTHS = (16, 32, 64)  # columns that registers hold
_BITS = 64  # of a word of the mask


@dataclass(frozen=True, eq=False)
class ThinnedProduct:
    """X W in two parts.

    Attributes:
        kept: Of the entries of X that the mask keeps, shape (rows, columns of W).
        rest: Of the others.
        mask: A bit an entry of X, 64 columns a word, row after row.
    """

    kept: Tensor
    rest: Tensor
    mask: Any


def thinned_product(x: Tensor, weight: Tensor, *, keep: int, key: int) -> ThinnedProduct:
    """Multiply float32 matrices on the CPU.

    Args:
        x: Features, shape (n, d).
        weight: Shape (d, columns).
        keep: Each entry of `x` is kept with probability keep / 65536, from 1 to 65535.
        key: Of the random bits.
    """
    (n, d), words = x.shape, -(-x.shape[1] // _BITS)
    mask = np.empty(n * words, np.uint64)
    odds = np.uint64(key), np.uint64(keep)
    run([partial(loops.draw, mask, *odds, a, b) for a, b in _ranges(len(mask), 1)])
    kept, rest = [], []
    for block in _blocks(weight):
        kept.append(torch.zeros(n, block.shape[1]))
        rest.append(torch.zeros(n, block.shape[1]))
        arguments = flat(x), d, mask, as_rows(block), as_rows(kept[-1]), as_rows(rest[-1])
        run([partial(loops.split, *arguments, a, b) for a, b in _ranges(n, _BITS)])
    columns = weight.shape[1]
    return ThinnedProduct(_joined(kept, columns), _joined(rest, columns), mask)


def thinned_transposed(x: Tensor, mask: Any, gradient: Tensor) -> Tensor:
    """(M ⊙ X)ᵀ G, shape (d, columns of G)."""
    d, out = x.shape[1], []
    for block in _blocks(gradient):
        out.append(torch.zeros(d, block.shape[1]))
        arguments = flat(x), d, mask, as_rows(block), as_rows(out[-1])
        # Every range goes through all rows, so a thread has one.
        threads = min(torch.get_num_threads(), -(-d // _BITS))
        bounds = np.linspace(0, -(-d // _BITS), threads + 1).astype(int).tolist()
        run([partial(loops.transposed, *arguments, a, b) for a, b in pairwise(bounds)])
    return _joined(out, gradient.shape[1])


def _blocks(matrix: Tensor) -> Iterator[Tensor]:
    """Blocks of columns as wide as registers hold, the last one filled up with zeros."""
    widest = _WIDTHS[-1]
    for start in range(0, matrix.shape[1], widest):
        block = matrix.detach()[:, start : start + widest]
        width = next(width for width in _WIDTHS if width >= block.shape[1])
        yield pad(block, (0, width - block.shape[1])).contiguous()


def _joined(blocks: list[Tensor], columns: int) -> Tensor:
    return blocks[0][:, :columns] if len(blocks) == 1 else torch.cat(blocks, 1)[:, :columns]


def _ranges(count: int, step: int) -> Iterator[tuple[int, int]]:
    """Ranges of about the same size that cover `count` places and begin at multiples of `step`."""
    jobs = 1 if torch.get_num_threads() == 1 else RANGES_PER_THREAD * torch.get_num_threads()
    size = max(-(-count // (jobs * step)), 1) * step
    return ((start, min(start + size, count)) for start in range(0, count, size))
