"""What the core's short cuts are worth, as ratios measured side by side in one run.

    python benchmarks/core.py [--json FILE]

Chebyshev against the direct sum (products and seconds), and the factored form of GADC (II) against the n × n
form of its formula, on a random graph with power-law degrees.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

import gadc
from gadc.datasets import power_law
from gadc.operators import LinearOperator

NODES, FEATURES, REPEATS = 6000, 300, 3


class ProductCounter:
    """Counts sparse times dense-matrix products while it is active."""

    def __enter__(self) -> ProductCounter:
        self.count, self._original = 0, LinearOperator.apply

        def counted(operator: LinearOperator, dense: Tensor, **options: object) -> Tensor:
            self.count += 1
            return self._original(operator, dense, **options)

        LinearOperator.apply = counted  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        LinearOperator.apply = self._original  # type: ignore[method-assign]


def seconds(work: Callable[[], object]) -> float:
    work()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def chebyshev_row(data, lam: float, num_steps: int, rtol: float) -> dict[str, object]:
    T = gadc.transition(data.x, data.edge_index, variant="plain")
    theta = gadc.series.neumann(lam, num_steps)
    with ProductCounter() as counter:
        quick = gadc.polynomial(T, data.x, theta, rtol=rtol)
    direct = gadc.polynomial(T, data.x, theta)
    slow, fast = (
        seconds(lambda: gadc.polynomial(T, data.x, theta)),
        seconds(lambda: gadc.polynomial(T, data.x, theta, rtol=rtol)),
    )
    return {
        "work": f"plain, λ={lam:g}, K={num_steps}, rtol={rtol:g}",
        "against": f"direct sum: {counter.count} products for {num_steps}",
        "error": float((quick - direct).norm() / direct.norm()),
        "ratio": slow / fast,
    }


def factored_row(data, lam: float, num_steps: int) -> dict[str, object]:
    T = gadc.transition(data.x, data.edge_index, variant="II")
    theta = gadc.series.neumann(lam, num_steps)
    dense = T.to_dense()

    def n_by_n() -> Tensor:
        out = theta[-1] * data.x
        for weight in reversed(theta[:-1]):
            out = dense @ out + weight * data.x
        return out

    quick, slow = gadc.polynomial(T, data.x, theta), n_by_n()
    return {
        "work": f"II, λ={lam:g}, K={num_steps}, n={len(data.x)}, d={data.x.shape[1]}",
        "against": "n × n matrix, already formed",
        "error": float((quick - slow).norm() / slow.norm()),
        "ratio": seconds(n_by_n) / seconds(lambda: gadc.polynomial(T, data.x, theta)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path(__file__).with_name("core.json"))
    target = parser.parse_args().json
    data = power_law(NODES, 8, num_features=FEATURES, seed=0)
    rows = [
        chebyshev_row(data, 32.0, 128, 1e-3),
        chebyshev_row(data, 32.0, 128, 1e-4),
        chebyshev_row(data, 32.0, 16, 1e-3),
        factored_row(data, 32.0, 16),
    ]
    table = Table(title=f"Core short cuts, median of {REPEATS}, {torch.get_num_threads()} threads")
    for name in ("work", "against", "relative error", "times faster"):
        table.add_column(name)
    for row in rows:
        table.add_row(row["work"], row["against"], f"{row['error']:.1e}", f"{row['ratio']:.1f}")
    Console().print(table)
    context = {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
    }
    target.write_text(json.dumps({"context": context, "rows": rows}, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
