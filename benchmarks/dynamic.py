"""Time updates of a diffusion state against full runs in the same process.

    python benchmarks/dynamic.py [--sizes 100000,1000000] [--real ogbn-arxiv] [--json FILE]

Graphs are `gadc.datasets.power_law` with a mean degree of 20 and 64 features; plain diffusion with λ = 4,
tolerance 1e-3, float32, one thread. Times are of the processor, since other programs may be running. A full
run is `gadc.diffuse(num_steps=None, rtol=1e-3)` on the same graph. The edges that are added join random
nodes. The real graph (with 64 normal features where the files have none) is read in a random order of its
edges: 90 % at first, then ten batches of 1 %, and after that the last edges are removed and added again one
at a time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from side_by_side import machine, peak_gigabytes
from torch import Tensor

import gadc
from gadc.datasets import load, power_law

SETTINGS = {"variant": "plain", "lam": 4.0}
TOL = 1e-3
BATCHES = {1: 100, 10: 20, 1_000: 2, 100_000: 1}  # edges per update, number of updates


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time and the result of one call."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def full_run(x: Tensor, edge_index: Tensor, weight: Tensor | None = None) -> float:
    """Return the processor seconds of a full run."""
    return timed(lambda: gadc.diffuse(x, edge_index, weight, num_steps=None, rtol=TOL, **SETTINGS))[0]


def error_of(state: gadc.DiffusionState) -> dict[str, float]:
    """Compare F with a full run at a much smaller tolerance."""
    edges, weight = state.edges
    exact = gadc.diffuse(state.x, edges, weight, num_steps=None, rtol=1e-5, **SETTINGS)
    rows = (state.features - exact).norm(dim=1).double()
    return {
        "relative_error": float((state.features - exact).norm() / exact.norm()),
        "largest_share_of_bound": float((rows / state.row_bounds()).max()),
        "error_bound": state.error_bound,
        "root_mean_square_row": float(exact.norm()) / len(exact) ** 0.5,
    }


def random_edges(state: gadc.DiffusionState, count: int, generator: torch.Generator) -> Tensor:
    """Draw pairs of nodes that are not edges."""
    pairs = torch.randint(state.num_nodes, (2, 2 * count + 10), generator=generator)
    pairs = pairs[:, (pairs[0] != pairs[1]) & ~state.has_edges(pairs)]
    return pairs[:, :count]


def measure_size(nodes: int) -> dict[str, Any]:
    """Measure updates of one synthetic graph."""
    data = power_law(nodes, 20.0, num_classes=10, num_features=64, seed=0)
    creation, state = timed(lambda: gadc.DiffusionState(data.x, data.edge_index, tol=TOL, **SETTINGS))
    whole = full_run(data.x, data.edge_index)
    entries = 2 * state.num_edges + nodes
    generator = torch.Generator().manual_seed(0)
    state.update(add=random_edges(state, 1, generator))  # compiles
    found = {
        "nodes": nodes,
        "entries": entries,
        "create_seconds": creation,
        "full_seconds": whole,
        "updates": [],
    }
    for size, repeats in BATCHES.items():
        seconds, read, rows, fulls = [], [], [], 0
        for _ in range(repeats):
            pairs = random_edges(state, size, generator)
            taken, done = timed(lambda pairs=pairs: state.update(add=pairs))
            seconds.append(taken)
            read.append(done.entries_read)
            rows.append(len(done.changed_rows))
            fulls += done.was_full
        middle = statistics.median(seconds)
        line = {"edges": size, "repeats": repeats, "milliseconds": 1e3 * middle, "ratio": whole / middle}
        line |= {"slowest_milliseconds": 1e3 * max(seconds), "entries_read": statistics.median(read)}
        line |= {"changed_rows": statistics.median(rows), "full_runs": fulls}
        found["updates"].append(line)
        print(line, flush=True)
        if size == 1_000:
            found["break_even_edges"] = size * whole / middle
    u, v = random_edges(state, 1, generator)[:, 0].tolist()
    found["impact_milliseconds"] = 1e3 * statistics.median(
        timed(lambda: state.impact(u, v))[0] for _ in range(20)
    )
    return {**found, **error_of(state), "peak_gb": peak_gigabytes()}


def measure_growth(name: str) -> dict[str, Any]:
    """Measure a real graph that grows by ten batches."""
    data = load(name)
    if data.x is None:  # the graph is real, its features are drawn
        data.x = torch.randn(int(data.num_nodes), 64, generator=torch.Generator().manual_seed(0))
    pairs = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    order = torch.randperm(pairs.shape[1], generator=torch.Generator().manual_seed(0))
    pairs = pairs[:, order]
    start = int(0.9 * pairs.shape[1])
    state = gadc.DiffusionState(data.x, pairs[:, :start], tol=TOL, **SETTINGS)
    found: dict[str, Any] = {"name": name, "nodes": len(data.x), "edges": pairs.shape[1], "batches": []}
    for batch in pairs[:, start:].tensor_split(10, 1):
        seconds, done = timed(lambda batch=batch: state.update(add=batch))
        line = {"edges": batch.shape[1], "seconds": seconds, "was_full": done.was_full}
        line |= {"entries_read": done.entries_read, "changed_rows": len(done.changed_rows)}
        found["batches"].append(line)
        print(line, flush=True)
    found["full_seconds"] = full_run(data.x, pairs)
    found |= error_of(state)
    single = []
    for k in range(-50, 0):
        edge = pairs[:, k : k + 1] if k + 1 else pairs[:, k:]
        state.update(remove=edge)
        seconds, done = timed(lambda edge=edge: state.update(add=edge))
        single.append((seconds, done.entries_read))
    found["single_milliseconds"] = 1e3 * statistics.median(seconds for seconds, _ in single)
    found["single_entries_read"] = statistics.median(read for _, read in single)
    return found


def main() -> None:
    """Run the measurements and write them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="100000,1000000")
    parser.add_argument("--real", default="ogbn-arxiv")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    result: dict[str, Any] = {"machine": machine(), "settings": {**SETTINGS, "tol": TOL}, "sizes": []}
    if options.real:
        result["growth"] = measure_growth(options.real)
    for nodes in map(int, options.sizes.split(",")):
        result["sizes"].append(measure_size(nodes))
        if options.json is not None:
            options.json.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
