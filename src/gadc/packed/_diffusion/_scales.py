"""Means and deviations of the columns of X, one task per slab, so that features can be standardised.

scales/<checksum of the graph>-0000.npz     mean and deviation of the columns of a slab
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from gadc._base.tasks import Stage, Task, join_place, local_copy, write_arrays
from gadc.datasets import FeaturePreparation
from gadc.packed._diffusion._run import open_graph
from gadc.packed._graph import PackedGraph

_ROWS_AT_ONCE = 2**18


def scale_stage(graph: PackedGraph, folder: str) -> Stage:
    """Make the stage that measures the columns; its files lie in the work folder."""
    size = 8 * graph.num_nodes
    tasks = [
        Task(
            f"scales/slab-{i:04d}",
            write_scales,
            (str(graph.path), i, _file(graph, folder, i)),
            (_file(graph, folder, i),),
            size * (stop - start),
        )
        for i, (start, stop) in enumerate(graph.slabs)
    ]
    return Stage("scales", tasks)


def write_scales(graph_path: str, number: int, out: str) -> None:
    """Write the mean and the standard deviation of each column of a slab, in float64.

    A constant column has its value as the mean and the deviation 1, as in memory.
    """
    slab = open_graph(graph_path).slab(number)
    n, width = slab.shape
    blocks = [slice(start, start + _ROWS_AT_ONCE) for start in range(0, n, _ROWS_AT_ONCE)]
    total, low, high = np.zeros(width), np.full(width, np.inf), np.full(width, -np.inf)
    for rows in blocks:
        part = slab[rows].astype(np.float64)
        total += part.sum(0)
        low, high = np.minimum(low, part.min(0)), np.maximum(high, part.max(0))
    mean = np.where(low == high, low, total / n)
    squares: Any = sum(np.square(slab[rows].astype(np.float64) - mean).sum(0) for rows in blocks)
    deviation = np.sqrt(squares / n)
    deviation = np.where((low == high) | (deviation <= 0), 1.0, deviation)
    write_arrays(out, {"mean": mean, "deviation": deviation})


def read_scales(graph: PackedGraph, folder: str) -> FeaturePreparation:
    """Return how the features of a graph are computed and standardised."""
    parts = [np.load(local_copy(_file(graph, folder, i))) for i in range(len(graph.slabs))]
    means, deviations = (np.concatenate([part[name] for part in parts]) for name in ("mean", "deviation"))
    return graph.preparation.with_known_scales(means.tolist(), deviations.tolist())


def scales_of(known: FeaturePreparation | None) -> dict[str, tuple[float, ...]]:
    """Return the settings of a diffusion that standardise features as described; none where they are not."""
    if known is None or not known.is_standardized:
        return {}
    if any(column.mean is None or column.compress for column in known.columns):
        raise ValueError(
            "the model scales features by median and quartiles, which packed graphs on disk do not; fit it "
            "with --standardize (mean and deviation), or with --no-standardize."
        )
    means, deviations = known.scales()
    return {"means": tuple(means.tolist()), "deviations": tuple(deviations.tolist())}


def _file(graph: PackedGraph, folder: str, number: int) -> str:
    # The name tells the graph, since no plan of a run protects these files: the plan depends on them.
    return join_place(folder, f"scales/{zlib.crc32(graph.checksum.encode()):08x}-{number:04d}.npz")
