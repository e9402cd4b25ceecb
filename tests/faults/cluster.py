"""Kill workers, the scheduler and the driver of a Dask cluster: `python -m tests.faults.cluster --kills 100`.

Every round diffuses a small graph on a cluster of two workers and kills one process with signal 9 at a random
moment of the run:

    worker       another one is started, as a cluster manager would do; the run goes on
    scheduler    the driver ends with an error; scheduler and workers are started, the call is repeated
    driver       the call is repeated

Then the result must be, byte for byte, the one of a run in one process. All processes are forks of this one,
which has imported everything and computed nothing, so that none of them waits for imports.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import random
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import dask
import distributed
import numpy as np
import torch

from gadc import packed
from gadc._base.tasks import open_executor
from gadc.datasets import csbm
from tests.faults.__main__ import start, wait

VICTIMS = ("worker", "scheduler", "driver")
STEPS = 200
_SECONDS = 60.0  # after which a round is counted as stuck


class Cluster:
    """A scheduler and two workers in processes of their own."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.scheduler = start(lambda: asyncio.run(_schedule(address)))
        self.workers = [self._start_worker() for _ in range(2)]

    def _start_worker(self) -> int:
        return start(lambda: asyncio.run(_work(self.address)))

    def kill_worker(self, place: int) -> None:
        """Kill a worker and start another one."""
        _kill(self.workers[place])
        self.workers[place] = self._start_worker()

    def close(self) -> None:
        """Kill all processes."""
        for process in (self.scheduler, *self.workers):
            _kill(process)


async def _schedule(address: str) -> None:
    host, port = address.removeprefix("tcp://").split(":")
    async with distributed.Scheduler(host=host, port=int(port), dashboard=False) as scheduler:
        await scheduler.finished()


async def _work(address: str) -> None:
    torch.set_num_threads(1)
    async with distributed.Worker(address, nthreads=1, dashboard=False, death_timeout=20) as worker:
        await worker.finished()


def _kill(process: int) -> None:
    with suppress(ProcessLookupError, ChildProcessError):  # it may have ended by itself
        os.kill(process, signal.SIGKILL)
        wait(process)


def diffuse(graph: Path, folder: Path, address: str | None) -> None:
    """Diffuse the graph, on the cluster if there is one, and write one file with all columns."""
    torch.set_num_threads(1)
    with open_executor(address) as executor:
        result = packed.diffuse(
            graph, folder / "run", variant="III", lam=64.0, num_steps=STEPS, executor=executor
        )
    np.save(folder / "result.npy", result.rows())


def _result(folder: Path) -> bytes | None:
    file = folder / "result.npy"
    return file.read_bytes() if file.exists() else None


def _free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        number: int = opened.getsockname()[1]
        return number


def disturb(victim: str, graph: Path, expected: bytes, seconds: float, rng: random.Random) -> str | None:
    """Run once with a kill; say what went wrong, or None."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cluster = Cluster(f"tcp://127.0.0.1:{_free_port()}")
        try:
            driver = start(lambda: diffuse(graph, folder, cluster.address))
            time.sleep(rng.uniform(0.1, 1.1) * seconds)
            if victim == "worker":
                cluster.kill_worker(rng.randrange(2))
            elif victim == "driver":
                os.kill(driver, signal.SIGKILL)
            elif victim == "scheduler":
                _kill(cluster.scheduler)
            code = _wait_at_most(driver, _SECONDS)
            if code is None:
                return "the driver is stuck"
            if victim == "scheduler":
                for worker in cluster.workers:
                    _kill(worker)
                cluster = Cluster(f"tcp://127.0.0.1:{_free_port()}")
            if _result(folder) is None:
                if victim == "worker":
                    return f"the driver ended with exit code {code}"
                code = _wait_at_most(start(lambda: diffuse(graph, folder, cluster.address)), _SECONDS)
                if code != 0:
                    return f"the repeated call ended with exit code {code}"
        finally:
            cluster.close()
        return None if _result(folder) == expected else "the result is another one"


def _wait_at_most(process: int, seconds: float) -> int | None:
    """Return the exit code of a child; None, and kill it, if it takes longer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    _kill(process)
    return None


def _prepare(graph: Path, folder: Path) -> None:
    packed.pack_data(csbm(200, num_features=16, seed=0), graph, width=2, num_ranges=2)
    diffuse(graph, folder, None)


def main(kills: int, seed: int, tell: Callable[[str], None] = print) -> int:
    """Kill processes in turn and return how often the result was not the expected one."""
    rng, failures = random.Random(seed), 0  # noqa: S311  no secrets
    dask.config.set({"distributed.comm.timeouts.connect": "5s"})  # how long a driver looks for its scheduler
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it is going to complain about every kill
    with tempfile.TemporaryDirectory() as name:
        graph, folder = Path(name) / "graph", Path(name)
        if wait(start(lambda: _prepare(graph, folder))):
            raise RuntimeError("the undisturbed run failed")
        expected = _result(folder) or b""
        begin = time.monotonic()
        wrong = disturb("none", graph, expected, 0.0, rng)
        if wrong:
            raise RuntimeError(f"the undisturbed run on the cluster: {wrong}")
        seconds = time.monotonic() - begin
        counts = dict.fromkeys(VICTIMS, 0)
        for number in range(kills):
            victim = VICTIMS[number % len(VICTIMS)]
            wrong = disturb(victim, graph, expected, seconds, rng)
            counts[victim] += 1
            failures += wrong is not None
            if wrong:
                tell(f"  kill {number + 1}, {victim}: {wrong}")
        kinds = ", ".join(f"{count} of the {victim}" for victim, count in counts.items())
        tell(f"{kills} kills ({kinds}), {kills - failures} identical results, {failures} failures")
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    sys.exit(min(main(given.kills, given.seed), 1))
