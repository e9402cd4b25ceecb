"""Split work over the rows of a sparse matrix among threads.

The work runs in Python threads that release the interpreter lock while they compute. This is as parallel as
Numba's own scheduler, but also allows a fork after the first product and calls from several threads. The
number of threads is `torch.get_num_threads()`.
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

from gadc.operators._pattern import SparsePattern

_RANGES_PER_THREAD = 8  # more than one, so that the others do not wait for a thread that was held up
_MIN_WORK = 1 << 18  # additions below which another thread costs more than it saves


def over_rows(pattern: SparsePattern, columns: int, work: Callable[[int, int], object]) -> None:
    """Call `work(start, stop)` for ranges that together cover all rows.

    Args:
        pattern: The sparse matrix.
        columns: Columns of the dense operand, which together with the entries tell how much work there is.
        work: Computes rows start:stop; it must not touch the results of other rows.
    """
    size = (pattern.nnz + pattern.num_rows) * max(columns, 1)
    threads = min(torch.get_num_threads(), size // _MIN_WORK + 1)
    if threads == 1:
        work(0, pattern.num_rows)
        return
    ranges = ranges_of(pattern.row_ptr.numpy(), threads * _RANGES_PER_THREAD)
    run([partial(work, a, b) for a, b in ranges])


def ranges_of(row_ptr: Any, count: int) -> list[tuple[int, int]]:
    """Split the rows into at most `count` ranges with about the same number of entries each.

    Ranges with the same number of rows would not do: degrees differ by orders of magnitude.
    """
    targets = np.linspace(0, row_ptr[-1], count + 1).astype(row_ptr.dtype)
    cuts = np.searchsorted(row_ptr, targets)
    cuts[0], cuts[-1] = 0, len(row_ptr) - 1
    return [(int(a), int(b)) for a, b in pairwise(cuts) if a < b]


def run(jobs: Sequence[Callable[[], object]]) -> None:
    """Run all jobs in threads and wait for them; the first error is raised."""
    threads = torch.get_num_threads()
    if threads == 1 or len(jobs) == 1:
        for job in jobs:
            job()
        return
    for done in [_pool(threads, os.getpid()).submit(job) for job in jobs]:
        done.result()


@lru_cache(maxsize=4)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Return the threads of this process; a forked child does not have the threads of its parent."""
    return ThreadPoolExecutor(threads, thread_name_prefix=f"gadc-{process}")
