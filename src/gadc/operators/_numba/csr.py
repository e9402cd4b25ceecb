"""The products on the CPU, compiled by Numba: rows are split into ranges with about as many entries each.

The ranges run in Python threads. They hold no lock while they compute, so this is as parallel as Numba's own
scheduler, and it bears what that does not: a fork after the first product, and calls from several threads.
The number of threads is torch's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gadc.operators._numba import loops
from gadc.operators._pattern import SparsePattern
from gadc.operators._step import NO_STEP, Step

RANGES_PER_THREAD = 8  # more than one, so that a thread that was held up does not keep the others waiting
_MIN_WORK = 1 << 18  # additions worth a thread of their own


def spmm(pattern: SparsePattern, values: Tensor, dense: Tensor, step: Step = NO_STEP) -> Tensor:
    """Multiply sparse (pattern, values) with dense and take the step, all in one pass over the rows."""
    shape = (pattern.num_rows, dense.shape[1])
    out = empty(shape, dense.dtype) if step.out is None else step.out
    number = number_type(dense)
    none = np.empty(0, number)
    plus = [(weight, flat(summand)) for weight, summand in step.plus]
    (w1, first), (w2, second) = plus + [(0.0, none)] * (2 - len(plus))
    wt, sums = (0.0, none) if step.total is None else (step.total[0], step.total[1].view(-1).numpy())
    matrix = flat(pattern.row_ptr), flat(pattern.cols), flat(values)
    arguments = *matrix, flat(dense), dense.shape[1], number(step.scale)
    summands = first, number(w1), second, number(w2), out.view(-1).numpy(), sums, number(wt)
    over_rows(pattern, dense.shape[1], lambda start, stop: loops.spmm(*arguments, *summands, start, stop))
    return out


def sddmm(pattern: SparsePattern, left: Tensor, right: Tensor) -> Tensor:
    """Inner products of rows of `left` and `right` at the entries; half of them where all is symmetric."""
    symmetric = pattern.symmetric and _same(left, right)
    out = empty((pattern.nnz,), left.dtype)
    row_ptr, cols, result = flat(pattern.row_ptr), flat(pattern.cols), out.numpy()
    factors = flat(left), flat(right), left.shape[1]
    over_rows(pattern, left.shape[1], partial(loops.sddmm, row_ptr, cols, *factors, result, symmetric))
    if symmetric:
        bounds = ranges_of(row_ptr, torch.get_num_threads())
        run([partial(loops.mirror, row_ptr, cols, result, a, b) for a, b in bounds])
    return out


def row_sums(pattern: SparsePattern, values: Tensor) -> Tensor:
    """Sum of each row."""
    out = empty((pattern.num_rows,), values.dtype)
    arguments = flat(pattern.row_ptr), flat(values), out.numpy()
    over_rows(pattern, 1, partial(loops.row_sums, *arguments))
    return out


def rescale(pattern: SparsePattern, values: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """left_i · values_ij · right_j."""
    out = empty((pattern.nnz,), values.dtype)
    matrix = flat(pattern.row_ptr), flat(pattern.cols), flat(values)
    arguments = *matrix, flat(left), flat(right), out.numpy()
    over_rows(pattern, 1, partial(loops.rescale, *arguments))
    return out


def empty(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Memory for a result, allocated by NumPy: it asks for huge pages, which random gathers profit from."""
    return torch.from_numpy(np.empty(shape, np.float64 if dtype == torch.float64 else np.float32))


def flat(tensor: Tensor) -> Any:
    """The tensor as a flat NumPy array in C order, shared where it is in that order already."""
    return tensor.detach().reshape(-1).contiguous().numpy()


def number_type(tensor: Tensor) -> type[np.float32] | type[np.float64]:
    """NumPy's name of what the tensor holds."""
    return np.float64 if tensor.dtype == torch.float64 else np.float32


def _same(left: Tensor, right: Tensor) -> bool:
    return left is right or (
        left.data_ptr() == right.data_ptr() and left.shape == right.shape and left.stride() == right.stride()
    )


def over_rows(pattern: SparsePattern, columns: int, work: Callable[[int, int], object]) -> None:
    """Call `work(start, stop)` for ranges that cover all rows, in as many threads as torch uses."""
    size = (pattern.nnz + pattern.num_rows) * max(columns, 1)
    threads = min(torch.get_num_threads(), size // _MIN_WORK + 1)
    if threads == 1:
        work(0, pattern.num_rows)
        return
    ranges = ranges_of(pattern.row_ptr.numpy(), threads * RANGES_PER_THREAD)
    run([partial(work, a, b) for a, b in ranges])


def ranges_of(row_ptr: Any, count: int) -> list[tuple[int, int]]:
    """Ranges of rows with about the same number of entries: degrees differ by orders of magnitude."""
    targets = np.linspace(0, row_ptr[-1], count + 1).astype(row_ptr.dtype)
    cuts = np.searchsorted(row_ptr, targets)
    cuts[0], cuts[-1] = 0, len(row_ptr) - 1
    return [(int(a), int(b)) for a, b in pairwise(cuts) if a < b]


def run(jobs: Sequence[Callable[[], object]]) -> None:
    """All jobs, in threads; the first error is raised."""
    threads = torch.get_num_threads()
    if threads == 1 or len(jobs) == 1:
        for job in jobs:
            job()
        return
    for done in [_pool(threads, os.getpid()).submit(job) for job in jobs]:
        done.result()


@lru_cache(maxsize=4)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """The threads of this process: a forked child does not have those of its parent."""
    return ThreadPoolExecutor(threads, thread_name_prefix=f"gadc-{process}")
