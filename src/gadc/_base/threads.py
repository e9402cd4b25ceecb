"""One thread for small matrices.

Threads that share a product of microseconds cost more than they save, and on a busy machine each product
waits for the thread that was held up. So loops of small products run in one thread.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

MIN_MULTIPLICATIONS = 1 << 25  # a product of this size takes some milliseconds in one thread
_lock = threading.Lock()
_inside = threading.local()
_users, _usual = 0, 1


@contextmanager
def threads_for(multiplications: int) -> Iterator[None]:
    """Use one thread of torch within this block if its products are small, and the usual number afterwards.

    The number of threads is a setting of the process that each thread reads for itself, so every thread that
    was in the block restores it. Blocks may be nested and entered by several threads at once.

    Args:
        multiplications: Number of multiplications that the largest product in the block takes.
    """
    if multiplications >= MIN_MULTIPLICATIONS or getattr(_inside, "now", False):
        yield
        return
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _users, _usual
    with _lock:
        if _users == 0:
            _usual = torch.get_num_threads()
        _users += 1
        _inside.now = True
        torch.set_num_threads(1)


def _leave() -> None:
    global _users
    with _lock:
        _users -= 1
        _inside.now = False
        torch.set_num_threads(_usual)
