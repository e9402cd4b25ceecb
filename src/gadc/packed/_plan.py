"""What a run is going to do: stages, tasks, bytes, time and memory, before any of it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gadc._base.memory import MemoryLimitError, available_memory, format_bytes
from gadc._base.tasks import Stage
from gadc.packed._diffusion import DiffusionRun, peak_memory

# Products with 16 columns read at least about this many bytes per second in one thread.
BYTES_PER_SECOND = 7e8
PACKED_PER_SECOND = 1.5e8  # joins, sorting and checksums take longer


@dataclass(frozen=True)
class PlannedStage:
    """One stage of a plan.

    Attributes:
        name: Name of the stage.
        num_tasks: Number of tasks; None where earlier stages decide it.
        num_done: Number of tasks whose files exist already.
        num_bytes: Bytes that the other tasks read and write.
        seconds: Forecast of the time of the other tasks in one worker.
    """

    name: str
    num_tasks: int | None
    num_done: int
    num_bytes: int
    seconds: float


def plan_stages(stages: Sequence[Stage]) -> list[PlannedStage]:
    """Describe stages; nothing is computed or written."""
    planned = []
    for stage in stages:
        if callable(stage.tasks):
            planned.append(PlannedStage(stage.name, None, 0, 0, 0.0))
            continue
        waiting = [task for task in stage.tasks if not task.is_done()]
        size = sum(task.num_bytes for task in waiting)
        done = len(stage.tasks) - len(waiting)
        planned.append(PlannedStage(stage.name, len(stage.tasks), done, size, size / BYTES_PER_SECOND))
    return planned


def plan_packing(tasks: Mapping[str, tuple[int, int]]) -> list[PlannedStage]:
    """Describe the stages of packing, from the number of tasks and of bytes of each."""
    return [
        PlannedStage(name, count, 0, size, size / PACKED_PER_SECOND) for name, (count, size) in tasks.items()
    ]


def check_peak_memory(owner: str, run: DiffusionRun, limit: int | None = None) -> int:
    """Forecast the memory of the largest task, and refuse a run that does not fit.

    Args:
        owner: Name of the caller, for errors.
        run: The run.
        limit: Number of bytes that a task may take. Default: the memory that is available here.
    """
    needed, room = peak_memory(run), available_memory() if limit is None else limit
    if needed > room:
        n = run.graph.num_nodes
        raise MemoryLimitError(
            f"{owner}: the largest task on {n:,} nodes needs about {format_bytes(needed)} beside the files "
            f"that it maps, and {format_bytes(room)} are allowed; raise --memory or use a larger machine."
        )
    return needed
