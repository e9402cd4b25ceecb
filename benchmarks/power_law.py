"""Time, memory and shape of a generated graph, by default of the size of ogbn-products.

python benchmarks/power_law.py [NODES] [MEAN_DEGREE]
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
import torch

from gadc.datasets import power_law

EXPONENT, CLASSES, HOMOPHILY = 2.5, 47, 0.8


def peak_gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def tail_exponent(degree: np.ndarray, low: float, high: float) -> float:
    """Maximum likelihood γ of the density k^-γ on [low, high], as the tail ends at the cut √(Σ degrees)."""
    grid = np.arange(np.ceil(low), np.floor(high) + 1)
    mean_log = np.log(degree[(degree >= grid[0]) & (degree <= grid[-1])]).mean()
    gammas = np.linspace(1.5, 5.0, 351)
    likelihood = [-g * mean_log - np.log((grid**-g).sum()) for g in gammas]
    return float(gammas[np.argmax(likelihood)])


def main(num_nodes: int = 2_449_029, mean_degree: float = 50.52) -> None:
    before = peak_gigabytes()
    start = time.perf_counter()
    data = power_law(
        num_nodes, mean_degree, exponent=EXPONENT, num_classes=CLASSES, homophily=HOMOPHILY, seed=0
    )
    seconds, peak = time.perf_counter() - start, peak_gigabytes()
    row, col = data.edge_index
    degree = torch.bincount(row, minlength=num_nodes).numpy()
    gamma = tail_exponent(degree, 2 * mean_degree, 20 * mean_degree)
    rows = {
        "nodes": f"{num_nodes:,}",
        "undirected edges": f"{len(row) // 2:,}",
        "seconds": f"{seconds:.1f}",
        "peak memory (GiB)": f"{peak:.2f} ({before:.2f} before)",
        "degree: mean, median, max": f"{degree.mean():.2f}, {np.median(degree):.0f}, {degree.max()}",
        "isolated nodes": f"{(degree == 0).sum():,}",
        f"tail exponent ({EXPONENT} asked)": f"{gamma:.2f}",
        f"homophily ({HOMOPHILY} asked)": f"{(data.y[row] == data.y[col]).float().mean():.4f}",
    }
    for name, value in rows.items():
        print(f"{name:<30}{value}")


if __name__ == "__main__":
    main(*(kind(text) for kind, text in zip((int, float), sys.argv[1:], strict=False)))
