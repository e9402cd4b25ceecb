"""Open the executor that an address names: processes of this machine, or a Dask cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager

from gadc._base.extras import require
from gadc._base.processes import end_with_parent, process_context

_CONNECT_SECONDS = 30
_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_SCHEDULER = re.compile(r"(tcp|tls|ws|wss)://.+")


@contextmanager
def open_executor(address: str | None) -> Iterator[Executor | None]:
    """Yield the executor of an address and close it afterwards; workers of a cluster go on.

    Args:
        address: "local:4" for four processes, "tcp://host:8786" for the scheduler of a Dask cluster, or None
            for no executor: tasks then run here, one after the other.

    Raises:
        ValueError: The address is of neither kind.
        ConnectionError: There is no scheduler at the address.
        ImportError: dask.distributed is not installed.

    Examples:
        >>> from gadc._base.tasks import open_executor
        >>> with open_executor("local:1") as executor:
        ...     executor.submit(max, 2, 3).result()
        3
    """
    if address is None:
        yield None
    elif found := _LOCAL.fullmatch(address):
        count = int(found[1])
        context = process_context("gadc.packed")  # where the functions of tasks are
        with ProcessPoolExecutor(
            count, mp_context=context, initializer=_start_worker, initargs=(count,)
        ) as pool:
            yield pool
    elif _SCHEDULER.fullmatch(address):
        with _dask_executor(address) as executor:
            yield executor
    else:
        raise ValueError(f"the cluster must be local:NUMBER or tcp://HOST:PORT, got {address!r}.")


def _start_worker(count: int) -> None:
    """Share the cores of this machine among its workers, and end with the process that started them."""
    import torch  # workers alone need it

    torch.set_num_threads(max(1, torch.get_num_threads() // count))
    end_with_parent()


@contextmanager
def _dask_executor(address: str) -> Iterator[Executor]:
    distributed = require("distributed", "dask")
    try:
        client = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except OSError as error:  # also its own timeouts
        raise ConnectionError(f"there is no Dask scheduler at {address}: {error}") from error
    try:
        executor: Executor = client.get_executor()
        yield executor
    finally:
        client.close()
