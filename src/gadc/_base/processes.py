"""Processes that do a part of the work: how they are started, and how they end with their parent."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext


def process_context(*preloaded: str) -> BaseContext:
    """Return how processes are started.

    On Linux they are forks of a server that has imported the modules once and has a single thread. A fork of
    this process would inherit locks of threads that it does not have.

    Args:
        *preloaded: Modules that the server imports.
    """
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*preloaded])
    return context


def end_with_parent() -> None:
    """End this process when its parent is killed; to be called at its start."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
