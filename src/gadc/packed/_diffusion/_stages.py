"""The stages of a diffusion, in their order, with the bytes that each task reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gadc._base.tasks import Stage, Task
from gadc.packed._diffusion import _columns, _hops, _transition
from gadc.packed._diffusion._anchors import write_anchors
from gadc.packed._diffusion._run import DiffusionRun

_LANCZOS_VECTORS = 50


def diffusion_stages(run: DiffusionRun, *, sums: bool = False) -> list[Stage]:
    """List the stages from the packed graph to the slabs of diffused columns.

    Args:
        run: The run.
        sums: Also compute the row sums of S, which keep the units of features. Default: no.
    """
    graph, name = run.graph, run.settings.variant
    n, d = graph.num_nodes, graph.num_features
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
        anchors = (run.file("anchors/ptr.npy"), run.file("anchors/col.npy"))
        stages.append(Stage("anchors", [Task("anchors", write_anchors, (run,), anchors, 4 * n * d)]))
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
    spectrum = 4 * n * _LANCZOS_VECTORS if run.settings.variant in ("I", "II", "IV") else 0
    anchors = 12 * n * graph.num_features if run.settings.variant == "IV+" else 0
    return max(hops, rows, spectrum, anchors)


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
