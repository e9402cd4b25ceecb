"""What one pass over the graph saves: a whole grid of settings against each combination by itself.

    python benchmarks/auto_grid.py [--json FILE] [--nodes N]

Five variants x 4 λ x 4 K x 4 ε on Pubmed with noisy features (GADC_DATA must name the data), at the rows that
have labels. Plain and IV have no ε and are counted once, so there are 224 different combinations. "By itself"
is `gadc.polynomial` with a transition that is already built; building is left out on both sides.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

import gadc
from gadc.datasets import load
from gadc.models.auto.candidates._sweep import sweep, sweep_gram
from gadc.transforms import make_noise

LAMS, STEPS, RADII = (1.0, 8.0, 32.0, 128.0), (2, 4, 8, 16), (0.1, 0.5, 1.0, 2.0)
GRID = [(lam, k) for lam in LAMS for k in STEPS]


def pubmed(num_nodes: int | None):
    data = make_noise("gaussian-noise", level=0.05, seed=0)(load("pubmed"))
    return data if num_nodes is None else data.subgraph(torch.arange(num_nodes))


def alone(operators, x: Tensor, rows: Tensor) -> tuple[float, dict]:
    """Seconds of all combinations one by one, and their rows."""
    found, start = {}, time.perf_counter()
    for eps, operator in operators.items():
        for lam, k in GRID:
            found[eps, lam, k] = gadc.polynomial(operator, x, gadc.series.neumann(lam, k))[rows]
    return time.perf_counter() - start, found


def together(variant: str, operators, plain, x: Tensor, rows: Tensor) -> tuple[float, dict]:
    """Seconds of the same combinations in one sequence of products for each T, or in one for all (II)."""
    start = time.perf_counter()
    if variant == "II":
        sums = sweep_gram(plain, x, list(operators), GRID, rows)
    else:
        sums = {eps: sweep(operator, x, GRID, rows) for eps, operator in operators.items()}
    seconds = time.perf_counter() - start
    return seconds, {(eps, *pair): value for eps, found in sums.items() for pair, value in found.items()}


def measure(variant: str, data, rows: Tensor) -> dict[str, object]:
    radii = RADII if variant in ("I", "II", "III") else (0.0,)
    operators = {eps: gadc.transition(data.x, data.edge_index, variant=variant, eps=eps) for eps in radii}
    plain = gadc.transition(data.x, data.edge_index, variant="plain")
    plain @ data.x[:, :1]  # what the first product prepares belongs to neither side
    for operator in operators.values():
        operator @ data.x[:, :1]
    slow, exact = alone(operators, data.x, rows)
    fast, quick = together(variant, operators, plain, data.x, rows)
    error = max(float((quick[key] - exact[key]).norm() / exact[key].norm()) for key in exact)
    return {"variant": variant, "combinations": len(exact), "alone": slow, "together": fast, "error": error}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path(__file__).with_name("auto_grid.json"))
    parser.add_argument("--nodes", type=int, help="only so many of Pubmed's nodes")
    arguments = parser.parse_args()
    data = pubmed(arguments.nodes)
    rows = (data.train_mask | data.val_mask).nonzero().squeeze(1)
    with torch.no_grad():
        found = [measure(variant, data, rows) for variant in ("plain", "I", "II", "III", "IV")]
    total = {name: sum(row[name] for row in found) for name in ("combinations", "alone", "together")}
    found.append({"variant": "all", **total, "error": max(row["error"] for row in found)})
    table = Table(title=f"A grid on Pubmed, {len(data.x)} nodes, {torch.get_num_threads()} threads")
    for name in ("variant", "combinations", "seconds alone", "together", "times faster", "relative error"):
        table.add_column(name)
    for row in found:
        row["ratio"] = row["alone"] / row["together"]
        figures = (
            f"{row['alone']:.1f}",
            f"{row['together']:.1f}",
            f"{row['ratio']:.1f}",
            f"{row['error']:.0e}",
        )
        table.add_row(row["variant"], str(row["combinations"]), *figures)
    Console().print(table)
    context = {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "nodes": len(data.x),
        "grid": {"lam": LAMS, "num_steps": STEPS, "eps": RADII},
    }
    text = json.dumps({"context": context, "rows": found}, indent=2, ensure_ascii=False)
    arguments.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
