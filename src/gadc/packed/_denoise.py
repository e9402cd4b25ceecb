"""Denoised features of a packed graph as a table with the ids of its nodes: `gadc denoise --graph`."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import Tensor

from gadc._base.tasks import Stage, Task, place_of, run_stages, write_array, write_note
from gadc.packed._diffusion import (
    DiffusedFeatures,
    DiffusionRun,
    Tell,
    diffusion_stages,
    holding,
    make_run,
    open_graph,
    read_scales,
    scale_stage,
    scales_of,
    tell_warnings,
)
from gadc.packed._diffusion._columns import PreparedRows
from gadc.packed._graph import PackedGraph
from gadc.packed._results import check_out, id_name, join_parts, work_folder, write_part

SMALLEST_SUM = 1e-6  # share of the largest row sum below which a sum is a rounding error


def denoise(
    graph: PackedGraph | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    paper_scale: bool = False,
    standardize: bool = False,
    workdir: str | os.PathLike[str] | None = None,
    memory: str | int = "4GB",
    executor: Executor | None = None,
    progress: Tell | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Denoise the features of a packed graph and write them beside the ids of the nodes.

    Each row of S X is divided by the sum of that row of S, so that a constant stays as it is, and a
    standardisation is undone. The same call resumes after an interruption.

    Args:
        graph: A packed graph, or its folder.
        out: Table to write (.parquet, .csv or .feather), or a folder for one Parquet file per row range.
        paper_scale: Write S X as the paper defines it. Default: divide by the row sums of S.
        standardize: Scale every feature to mean 0 and standard deviation 1 before the diffusion, and undo it
            afterwards. Default: no.
        workdir: Work folder, which all workers share; it is kept. By default a folder beside `out`, which is
            removed when the table is written.
        memory: Memory of one task for its columns, see `gadc.packed.diffuse`.
        executor: Any `concurrent.futures.Executor`; by default tasks run here, one after the other.
        progress: Called with a `Progress` after every task; by default nothing is called.
        **settings: As in `gadc.packed.diffuse`.

    Returns:
        Facts: `out`, `nodes`, `features`, and `outside`, the number of nodes whose features leave the range
        of the table because weights of S cancel (always 0 with `paper_scale`). With `num_steps=None` also
        `error_bound`, the bound on the error of S X (`gadc.diffusion.Converged`).

    Examples:
        >>> import gadc, polars as pl
        >>> from gadc import packed
        >>> graph = packed.pack_data(gadc.datasets.csbm(60, num_features=4, seed=0), "graph")
        >>> packed.denoise(graph, "features.parquet", variant="plain", lam=4.0)["nodes"]
        60
        >>> pl.read_parquet("features.parquet").shape
        (60, 5)
    """
    place = check_out("denoise", out)
    with work_folder(place, workdir) as folder:
        if standardize:
            opened = graph if isinstance(graph, PackedGraph) else open_graph(place_of(graph))
            run_stages([scale_stage(opened, folder)], executor=executor, progress=progress)
            settings |= scales_of(read_scales(opened, folder))
        run = make_run(graph, folder, memory=memory, **settings)
        with holding(run):
            stages = denoise_stages(run, paper_scale=paper_scale)
            run_stages(stages, executor=executor, progress=progress)
            tell_warnings(run)
            kind = part_kind(paper_scale)
            parts = [run.part(kind, i, "parquet") for i in range(len(run.row_ranges))]
            join_parts("denoise", parts, place)
            bound = DiffusedFeatures(run).error_bound
            outside = 0 if paper_scale else sum(note["outside"] for note in run.notes(kind))
    nodes, features = run.graph.num_nodes, run.graph.num_features
    facts = {"out": str(place), "nodes": nodes, "features": features, "outside": outside}
    return facts if bound is None else facts | {"error_bound": bound}


def part_kind(paper_scale: bool) -> str:
    """Return the name of the parts of the table; both scales may lie in one work folder."""
    return "out/paper" if paper_scale else "out/features"


def denoise_stages(run: DiffusionRun, *, paper_scale: bool) -> list[Stage]:
    """List the stages from the packed graph to the parts of the table."""
    stages = diffusion_stages(run, sums=not paper_scale)
    ranges = list(enumerate(run.row_ranges))
    cells = [4 * run.graph.num_features * (stop - start) for start, stop in run.row_ranges]
    if not paper_scale:
        tasks = [
            Task(f"ranges/rows-{i:04d}", write_ranges, (run, i), (run.part("ranges/rows", i),), cells[i])
            for i, _ in ranges
        ]
        stages.append(Stage("ranges", tasks))
    kind = part_kind(paper_scale)
    tasks = []
    for i, _ in ranges:
        outputs = (run.part(kind, i, "json"), run.part(kind, i, "parquet"))
        tasks.append(
            Task(f"table/rows-{i:04d}", write_features, (run, i, paper_scale), outputs, 2 * cells[i])
        )
    stages.append(Stage("table", tasks))
    return stages


def write_ranges(run: DiffusionRun, number: int) -> None:
    """Write the smallest and the largest value of each column in a row range, shape (2, d)."""
    x = PreparedRows(run).read(*run.row_ranges[number])
    ends = torch.stack([x.amin(0), x.amax(0)]) if len(x) else torch.empty(2, 0)
    write_array(run.part("ranges/rows", number), ends.numpy())


def write_features(run: DiffusionRun, number: int, paper_scale: bool) -> None:
    """Write the features of a row range beside the ids of its nodes."""
    start, stop = run.row_ranges[number]
    result = DiffusedFeatures(run)
    features, outside = torch.from_numpy(result.rows(start, stop)), 0
    if not paper_scale:
        features, outside = _keep_units(run, result, features, start, stop)
    known = run.preparation
    names = run.graph.feature_names
    if known.is_standardized:
        features, names = known.unscale(features), known.raw_names
    ids = run.graph.ids(start, stop).alias(id_name(run.graph, names))
    frame = ids.to_frame().hstack(pl.from_numpy(features.numpy(), schema=list(names)))
    kind = part_kind(paper_scale)
    write_part(run.part(kind, number, "parquet"), frame)
    write_note(run.part(kind, number, "json"), {"outside": outside})


def _keep_units(
    run: DiffusionRun, result: DiffusedFeatures, features: Tensor, start: int, stop: int
) -> tuple[Tensor, int]:
    """Divide rows by their sums, where those are usable, and count rows that leave the range of X."""
    every = result.row_sums()
    largest = float(np.abs(every).max())
    sums = torch.from_numpy(np.array(every[start:stop]))
    usable = sums > torch.tensor(SMALLEST_SUM) * largest
    scaled = features / torch.where(usable, sums, torch.ones_like(sums)).unsqueeze(1)
    ends = [run.read("ranges/rows", i) for i, (a, b) in enumerate(run.row_ranges) if a < b]
    low = torch.from_numpy(np.min([one[0] for one in ends], axis=0))
    high = torch.from_numpy(np.max([one[1] for one in ends], axis=0))
    slack = high - low + 1e-3 * torch.maximum(low.abs(), high.abs())
    outside = ~usable | ((scaled < low - slack) | (scaled > high + slack)).any(1)
    return scaled, int(outside.sum())
