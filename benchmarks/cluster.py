"""Slabs of columns on two worker processes against one process: `python benchmarks/cluster.py`.

One process and two workers take turns on the same packed graph, each with one thread. The ratio is of the
time of the hops, four slabs of 16 columns; workers have imported the library before. The fastest of all
repeats counts, since other programs may be running. On a busy machine two processes may get no more processor
time than one; then the ratio of processor times says what two idle cores would give. Writes cluster.json.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import psutil
import torch

from gadc import packed
from gadc._base.tasks import Progress, open_executor
from gadc.datasets import power_law

SETTINGS: dict[str, Any] = {"variant": "plain", "lam": 8.0, "num_steps": 16}


def hops(graph: Path, folder: Path, executor: Any) -> tuple[float, float, int]:
    """Diffuse once; return the seconds of the hops by the clock and of the processors, and their bytes."""
    seen: list[tuple[Progress, float]] = []

    def progress(state: Progress) -> None:
        seen.append((state, processor_seconds(executor)))

    packed.diffuse(graph, folder, executor=executor, progress=progress, **SETTINGS)
    found = [one for one in seen if one[0].stage == "hops"]
    last = found[-1][0]
    return last.seconds, found[-1][1] - found[0][1], last.num_bytes


def processor_seconds(executor: Any) -> float:
    """Return the processor time of the workers of a pool, or of this process without one."""
    processes = [os.getpid()] if executor is None else list(executor._processes)
    return sum(sum(psutil.Process(one).cpu_times()[:2]) for one in processes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--degree", type=float, default=20.0)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name, open_executor("local:2") as executor:
        folder = Path(name)
        data = power_law(given.nodes, given.degree, num_features=64, seed=0)
        graph = packed.pack_data(data, folder / "graph")
        entries = packed.PackedGraph(graph).num_entries
        del data
        hops(graph, folder / "warm", executor)  # workers import the library and compile loops
        times: dict[str, list[tuple[float, float, int]]] = {"one": [], "two": []}
        for number in range(given.repeats):
            times["one"].append(hops(graph, folder / f"one-{number}", None))
            times["two"].append(hops(graph, folder / f"two-{number}", executor))
        same = all(
            (folder / "one-0" / "f" / f"slab-{i:04d}.npy").read_bytes()
            == (folder / "two-0" / "f" / f"slab-{i:04d}.npy").read_bytes()
            for i in range(4)
        )
    one, two = min(times["one"]), min(times["two"])
    result = {
        "nodes": given.nodes,
        "entries": entries,
        "columns": 64,
        "num_steps": SETTINGS["num_steps"],
        "seconds_one_process": one[0],
        "seconds_two_workers": two[0],
        "ratio": one[0] / two[0],
        "processor_seconds_one_process": one[1],
        "processor_seconds_two_workers": two[1],
        "ratio_of_two_idle_cores": 2 * one[1] / two[1],
        "bytes_per_processor_second": one[2] / one[1],
        "identical": same,
        "load": os.getloadavg()[0],
        "cores": os.cpu_count(),
    }
    Path(__file__).with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
