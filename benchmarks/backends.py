"""Time both back ends on products of several sizes: the figures behind the rule of `gadc.operators._backend`.

    python benchmarks/backends.py [--repeats 7] [--threads 1] [--json FILE]

The back ends compute each product in turn and the fastest of all repeats counts, since other programs may be
running. A ratio above 1 means that Numba is faster than torch.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from side_by_side import machine, once

from gadc.operators import SparsePattern
from gadc.operators._numba import csr as numba_csr
from gadc.operators._torch import csr as torch_csr

SIZES = ((3_000, 4), (20_000, 5), (20_000, 50), (200_000, 50), (1_000_000, 5))  # nodes, entries per row
COLUMNS = (1, 4, 8, 16, 64, 256)
MOST_MULTIPLICATIONS = 1 << 28


def random_pattern(num_nodes: int, degree: int) -> SparsePattern:
    generator = torch.Generator().manual_seed(0)
    cols = torch.randint(num_nodes, (num_nodes, degree), generator=generator, dtype=torch.int32)
    row_ptr = torch.arange(num_nodes + 1, dtype=torch.int32) * degree
    return SparsePattern(row_ptr, cols.sort(1).values.reshape(-1), num_nodes)


def fastest(works: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the fewest seconds of each work, with the works taken in turn."""
    best = dict.fromkeys(works, math.inf)
    for _ in range(repeats):
        for name, work in works.items():
            best[name] = min(best[name], once(work)[0])
    return best


def measure(repeats: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for num_nodes, degree in SIZES:
        pattern = random_pattern(num_nodes, degree)
        values = torch.rand(pattern.nnz)
        for columns in COLUMNS:
            if pattern.nnz * columns > MOST_MULTIPLICATIONS:
                continue
            dense = torch.rand(num_nodes, columns)
            for name, operands in (("spmm", (values, dense)), ("sddmm", (dense, dense))):
                backends = {"torch": torch_csr, "numba": numba_csr}
                works = {
                    key: partial(getattr(one, name), pattern, *operands) for key, one in backends.items()
                }
                best = fastest(works, repeats)
                size = {"nodes": num_nodes, "entries": pattern.nnz, "columns": columns}
                rows.append({"product": name, **size, **best, "ratio": best["torch"] / best["numba"]})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1, help="threads of either back end")
    parser.add_argument("--json", type=Path, default=Path(__file__).with_name("backends.json"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    context = machine()
    rows = measure(options.repeats)
    table = Table("product", "nodes", "entries", "columns", "torch, ms", "Numba, ms", "times faster")
    for row in rows:
        counts = (f"{row[name]:,}" for name in ("nodes", "entries", "columns"))
        times = (f"{1e3 * row[name]:.3g}" for name in ("torch", "numba"))  # type: ignore[operator]
        table.add_row(str(row["product"]), *counts, *times, f"{row['ratio']:.2g}")
    Console().print(table)
    options.json.write_text(json.dumps({"machine": context, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
