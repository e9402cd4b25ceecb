"""What the rows of `benchmarks/speed.py` share: timing, memory, the large graph, facts about the machine."""

from __future__ import annotations

import multiprocessing
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

PACKAGES = ("torch", "torch-geometric", "numba", "numpy", "scipy", "scikit-network")


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a row is given.

    Args:
        folder: Temporary folder that holds the large graph.
        nodes: Its number of nodes; 2,449,029 is the size of ogbn-products.
        repeats: Repeats of which the median is taken.
    """

    folder: Path
    nodes: int
    repeats: int


@dataclass(frozen=True, kw_only=True)
class Line:
    """One comparison.

    Args:
        work: What is computed.
        against: What it is compared with.
        ours: Our seconds.
        theirs: Seconds of the other side, None where there is no other side.
        target: The ratio asked for, None where none was.
        facts: Anything else worth a number: error, memory, share of the bandwidth.
    """

    work: str
    against: str
    ours: float
    theirs: float | None = None
    target: float | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """How many times faster."""
        return None if self.theirs is None else self.theirs / self.ours


Row = Callable[[Setup], list[Line]]


def seconds(work: Callable[[], object], repeats: int, *, warm: bool = True) -> float:
    """Median of repeated runs, after one that does not count."""
    if warm:
        work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def once(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result of one run."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def peak_gigabytes() -> float:
    """The most memory this process has had (10⁹ bytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def copy_bandwidth(repeats: int = 5, size: int = 1 << 28) -> float:
    """Bytes read and written a second by a copy of one gigabyte, as in STREAM, with torch's threads."""
    source, target = torch.ones(size), torch.zeros(size)
    return 2 * 4 * size / seconds(lambda: target.copy_(source), repeats)


def write_large_graph(setup: Setup, mean_degree: float = 50.52) -> None:
    """Generate the graph and leave it in the folder."""
    from gadc.datasets import power_law

    data = power_law(setup.nodes, mean_degree, num_classes=47, num_features=100, seed=0)
    np.save(setup.folder / "edge_index.npy", data.edge_index.numpy())
    np.save(setup.folder / "x.npy", data.x.numpy())


def large_graph(setup: Setup) -> tuple[Tensor, Tensor]:
    """Features and edges of the large graph."""
    return tuple(torch.from_numpy(np.load(setup.folder / f"{name}.npy")) for name in ("x", "edge_index"))  # type: ignore[return-value]


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the function in a process of its own, so that its peak of memory is its own."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, function, arguments))
    process.start()
    sender.close()
    try:
        outcome = receiver.recv()
    except EOFError:
        outcome = RuntimeError("the process ended without an answer (out of memory?)")
    process.join()
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _send(sender: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        outcome = function(*arguments)
    except Exception as error:
        outcome = RuntimeError(f"{type(error).__name__}: {error}")
    sender.send(outcome)


def machine() -> dict[str, Any]:
    """Processor, memory and versions; nothing that names the machine."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "load_before": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
