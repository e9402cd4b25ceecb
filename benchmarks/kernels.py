"""Time the sparse product at the widths of column slabs: sums in registers, sums in memory, and torch.

    python benchmarks/kernels.py [--nodes 1000000] [--degree 20] [--repeats 7] [--threads 1] [--json FILE]

Times are seconds of the processor, over all threads. The three take turns and the fastest of all repeats
counts, since other programs may be running. Operand and result begin at a cache line, and ours write to a
result that exists already, as the steps of a diffusion do: new pages would hide what is measured.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from backends import random_pattern
from rich.console import Console
from rich.table import Table
from side_by_side import machine

from gadc.operators._numba import csr as numba_csr
from gadc.operators._step import Step
from gadc.operators._torch import csr as torch_csr

COLUMNS = (8, 16, 32, 100)


def processor_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of one run, which other programs lengthen less than they do the clock's."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(nodes: int, degree: int, dtype: torch.dtype, repeats: int) -> list[dict[str, Any]]:
    """Return one row per number of columns: seconds of each way, and how many times faster registers are."""
    pattern, rows = random_pattern(nodes, degree), []
    values = torch.rand(pattern.nnz, dtype=dtype)
    for columns in COLUMNS:
        dense = numba_csr.empty((nodes, columns), dtype).copy_(torch.rand(nodes, columns, dtype=dtype))

        step = Step(out=numba_csr.empty((nodes, columns), dtype))

        def in_memory(dense: torch.Tensor = dense, step: Step = step) -> torch.Tensor:
            with patch.object(numba_csr, "_SPLITS", {}):
                return numba_csr.spmm(pattern, values, dense, step)

        works = {
            "now": lambda dense=dense, step=step: numba_csr.spmm(pattern, values, dense, step),
            "before": in_memory,
            "torch": lambda dense=dense: torch_csr.spmm(pattern, values, dense),
        }
        for work in works.values():
            work()  # compiles
        best = dict.fromkeys(works, math.inf)
        for _ in range(repeats):
            for name, work in works.items():
                best[name] = min(best[name], processor_seconds(work))
        ratios = {f"{name}/now": best[name] / best["now"] for name in ("before", "torch")}
        rows.append({"columns": columns, "type": str(dtype).removeprefix("torch."), **best, **ratios})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=int, default=20, help="entries per row")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, default=Path(__file__).with_name("kernels.json"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    context = {**machine(), "nodes": options.nodes, "degree": options.degree, "repeats": options.repeats}
    types = (torch.float32, torch.float64)
    rows = [row for one in types for row in measure(options.nodes, options.degree, one, options.repeats)]
    names = ("now", "before", "torch")
    table = Table("type", "columns", *(f"{name}, ms" for name in names), "before / now", "torch / now")
    for row in rows:
        times = (f"{1e3 * row[name]:.3g}" for name in names)
        ratios = (f"{row[name]:.2f}" for name in ("before/now", "torch/now"))
        table.add_row(row["type"], str(row["columns"]), *times, *ratios)
    Console().print(table)
    options.json.write_text(json.dumps({"machine": context, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
