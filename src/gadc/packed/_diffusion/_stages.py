"""The stages of a diffusion, in their order, with the bytes that each task reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gadc._base.tasks import Stage, Task
from gadc.diffusion._cells import count_cells
from gadc.packed._diffusion import _cells, _columns, _hops, _transition
from gadc.packed._diffusion._anchors import keys_file, uses_cells, write_anchors
from gadc.packed._diffusion._run import DiffusionRun

_LANCZOS_VECTORS = 50


def diffusion_stages(run: DiffusionRun, *, sums: bool = False) -> list[Stage]:
    """List the stages from the packed graph to the slabs of diffused columns.

    Args:
        run: The run.
        sums: Also compute the row sums of S, which keep the units of features. Default: no.
    """
    graph, name = run.graph, run.settings.variant
    d = graph.num_features
    cosines, eps = name in ("I", "IV", "IV+"), getattr(run.transition, "eps", 0.0)
    cells = [4 * d * (stop - start) for start, stop in run.row_ranges]
    entries = _entries(run)
    similar = sum(cells) if cosines or name == "III" else 0  # each task reads all columns of X
    stages = []
    if run.settings.normalize != "none":
        stages.append(
            stage_by_rows(
                run, "rows", _columns.write_divisors, ("rows/divisor.npy", "rows/divisor.json"), cells
            )
        )
    if cosines:
        stages.append(stage_by_rows(run, "norms", _columns.write_squares, ("rows/squares.npy",), cells))
    if name in ("II", "III") and eps > 0:
        stages.append(stage_by_rows(run, "gram", _columns.write_gram, ("gram/rows.npy",), cells))
    if name == "IV+":
        stages += _anchor_stages(run, cells)
        outputs = _part_files("similar")
        sizes = [16 * count + similar for count in entries]
        stages.append(stage_by_rows(run, "similar", _transition.write_similar, outputs, sizes))
    if name != "IV":
        sizes = [8 * count for count in entries]
        stages.append(stage_by_rows(run, "degrees", _transition.write_degrees, ("degree/rows.npy",), sizes))
    outputs = (*_part_files("t"), "t/note.json")
    sizes = [16 * count + (similar if name != "IV+" else 0) for count in entries]
    stages.append(stage_by_rows(run, "transition", _transition.write_transition, outputs, sizes))
    stages.append(Stage("spectrum", lambda: _spectrum_tasks(run)))
    stages.append(Stage("hops", _hop_tasks(run, sums=sums)))
    return stages


def hop_bytes(run: DiffusionRun, columns: int) -> int:
    """Return the number of bytes that the products of a slab read: T and the slab, once per step."""
    n, steps = run.graph.num_nodes, max(run.settings.expected_steps, 1)
    transition = 8 * (run.graph.num_entries + n)
    dense = 2 * 4 * n * run.graph.num_features if run.settings.variant == "II" else 0
    return steps * (transition + 8 * n * columns + dense)


def peak_memory(run: DiffusionRun) -> int:
    """Forecast the bytes that the largest task takes beside the files that it maps."""
    graph = run.graph
    n, width = graph.num_nodes, max((stop - start for start, stop in graph.slabs), default=0)
    hops = max(4 * n * _hops.BUFFERS, min(run.memory, 4 * n * _hops.BUFFERS * width))
    slab = 2 * 4 * n * width + 24 * n if run.settings.variant not in ("plain", "II") else 16 * n
    rows = 48 * max(_entries(run)) + slab
    if run.settings.variant == "IV+":
        rows += 96 * run.transition.neighbors * max(stop - start for start, stop in run.row_ranges)
    spectrum = 4 * n * _LANCZOS_VECTORS if run.settings.variant in ("I", "II", "IV") else 0
    anchors = _anchors_memory(run) if run.settings.variant == "IV+" else 0
    return max(hops, rows, spectrum, anchors)


def _anchors_memory(run: DiffusionRun) -> int:
    n, d, ranges = run.graph.num_nodes, run.graph.num_features, len(run.row_ranges)
    if not uses_cells(run):
        return 12 * n * d
    cells, neighbors = count_cells(n), int(run.transition.neighbors)
    near = 8 * 1024 * 16 * cells + 2 * 4 * 16 * cells * d + 48 * neighbors * n // ranges
    return max(40 * n, 12 * 40 * cells * d, 8 * n * d // ranges, near)


def _anchor_stages(run: DiffusionRun, cells: Sequence[int]) -> list[Stage]:
    """List the stages that find the nearest nodes; `cells` are the bytes of X in each row range."""
    size = sum(cells)
    if not uses_cells(run):
        return [Stage("anchors", [Task("anchors", write_anchors, (run,), (keys_file(run, 0),), size)])]
    centers = (run.file(_cells.SAMPLE), run.file(_cells.CENTERS))
    order = (run.file(_cells.ORDER), run.file(_cells.STARTS))
    n, near = run.graph.num_nodes, ("anchors/sampled.npz", "anchors/keys.npy")
    copied = [2 * one for one in cells]
    compared = [18 * one for one in cells]  # each cell is read once for itself and for 16 others
    recall = Task("recall", _cells.write_recall, (run,), (run.file(_cells.RECALL),), size)
    return [
        Stage("centers", [Task("centers", _cells.write_centers, (run,), centers)]),
        stage_by_rows(run, "cells", _cells.write_cells, ("anchors/cell.npy",), cells),
        Stage("order", [Task("order", _cells.write_order, (run,), order, 20 * n)]),
        stage_by_rows(run, "directions", _cells.write_directions, ("anchors/directions.npy",), copied),
        stage_by_rows(run, "anchors", _cells.write_near, near, compared),
        Stage("recall", [recall]),
    ]


def _entries(run: DiffusionRun) -> list[int]:
    pointers = run.graph.row_ptr
    return [int(pointers[stop] - pointers[start]) + stop - start for start, stop in run.row_ranges]


def _part_files(kind: str) -> tuple[str, ...]:
    return tuple(f"{kind}/{name}.npy" for name in ("ptr", "col", "val"))


def stage_by_rows(
    run: DiffusionRun,
    name: str,
    function: Callable[[DiffusionRun, int], None],
    outputs: Sequence[str],
    sizes: Sequence[int],
) -> Stage:
    """Make a stage with one task per row range; `outputs` are names without the number of the range."""
    tasks = []
    for i in range(len(run.row_ranges)):
        files = tuple(run.part(*_named(output, i)) for output in outputs)
        tasks.append(Task(f"{name}/rows-{i:04d}", function, (run, i), files, int(sizes[i])))
    return Stage(name, tasks)


def _named(output: str, number: int) -> tuple[str, int, str]:
    kind, suffix = output.rsplit(".", 1)
    return kind, number, suffix


def _spectrum_tasks(run: DiffusionRun) -> list[Task]:
    if not _hops.needs_spectrum(run):
        return []
    size = 30 * hop_bytes(run, 1) // max(run.settings.expected_steps, 1)
    return [Task("spectrum", _hops.write_spectrum, (run,), (run.file(_hops.SPECTRUM),), size)]


def _hop_tasks(run: DiffusionRun, *, sums: bool) -> list[Task]:
    tasks = []
    for i, (start, stop) in enumerate(run.graph.slabs):
        notes = (run.part("f/slab", i, "json"),) if run.settings.num_steps is None else ()
        files, size = (run.slab(i), *notes), hop_bytes(run, stop - start)
        tasks.append(Task(f"hops/slab-{i:04d}", _hops.write_hops, (run, i), files, size))
    if sums:
        task = Task("hops/sums", _hops.write_sums, (run,), (run.file("f/sums.npy"),), hop_bytes(run, 1))
        tasks.append(task)
    return tasks
