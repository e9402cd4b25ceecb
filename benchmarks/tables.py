"""Seconds and peak memory of `from_tables` on generated Parquet: benchmarks/tables.py [EDGES NODES]."""

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl


def write(folder: Path, num_edges: int, num_nodes: int, num_features: int = 8) -> None:
    """Random edges between scattered 64-bit ids."""
    rng = np.random.default_rng(0)
    ids = rng.choice(10 * num_nodes, num_nodes, replace=False) * 1009
    features = {f"f{i}": rng.normal(size=num_nodes).astype(np.float32) for i in range(num_features)}
    nodes = pl.DataFrame({"id": ids, "label": rng.integers(0, 47, num_nodes), **features})
    nodes.write_parquet(folder / "nodes.parquet")
    ends = {end: ids[rng.integers(0, num_nodes, num_edges)] for end in ("source", "target")}
    pl.DataFrame({**ends, "weight": rng.random(num_edges)}).write_parquet(folder / "edges.parquet")


def measure(folder: Path, weight: str | None) -> None:
    from gadc.datasets import from_tables

    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    data = from_tables(folder / "edges.parquet", folder / "nodes.parquet", weight=weight)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kind = "weighted" if weight else "unweighted"
    print(
        f"{data.table_report.rows:>12,} rows  {kind:<10}  {seconds:6.1f} s  peak {peak / 2**20:5.2f} GiB "
        f"({base / 2**20:.2f} before reading)"
    )


def main() -> None:
    num_edges, num_nodes = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (1_000_000, 100_000)
    spawn = multiprocessing.get_context("spawn")  # each in a process of its own, so that its peak is its own
    with tempfile.TemporaryDirectory() as folder:
        for job, *arguments in ((write, num_edges, num_nodes), (measure, None), (measure, "weight")):
            process = spawn.Process(target=job, args=(Path(folder), *arguments))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
