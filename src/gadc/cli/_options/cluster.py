"""Options for work on a packed graph: where it runs, and the files and memory it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc._base.memory import format_bytes, parse_bytes
from gadc.cli._output import print_facts, print_json, print_rows
from gadc.cli._progress import staging

if TYPE_CHECKING:
    from gadc._base.tasks import Stage
    from gadc.packed._diffusion import DiffusionRun
    from gadc.packed._plan import PlannedStage

with deferred():
    from gadc._base import tasks
    from gadc.packed import _plan as planning


_option = partial(typer.Option, rich_help_panel="A packed graph (--graph FOLDER)")

CLUSTER = (
    "Where tasks run: local:NUMBER for processes of this machine, or tcp://HOST:PORT for the scheduler of a "
    "Dask cluster. Default: in this process."
)


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """The options of commands that work on a packed graph in tasks."""

    cluster: Annotated[str | None, _option("--cluster", help=CLUSTER)] = None
    workdir: Annotated[
        str | None,
        _option(
            "--workdir",
            help="Work folder that all workers share, or its URL by fsspec, such as s3://bucket/run; it is "
            "kept. Default: a folder beside the output, which is removed at the end.",
        ),
    ] = None
    memory: Annotated[
        str | None,
        _option("--memory", help="Memory that one task may take, such as 8GB. Default: what is available."),
    ] = None
    dry_run: Annotated[
        bool,
        _option("--dry-run", help="Print stages, tasks, bytes, time and memory, and do nothing."),
    ] = False

    @property
    def is_given(self) -> bool:
        """Return whether any of the options was given."""
        return self != ClusterOptions()

    def check_unused(self) -> None:
        """Refuse these options where the graph is not a packed one."""
        if self.is_given:
            raise ValueError(
                "--cluster, --workdir, --memory and --dry-run require a packed graph (--graph FOLDER, see "
                "gadc pack)."
            )

    def work_folder(self, out: Path) -> str:
        """Return the work folder, for a plan."""
        return str(out.with_name(f"{out.name}.work")) if self.workdir is None else self.workdir

    @property
    def memory_bytes(self) -> int | None:
        """Return the memory of one task in bytes, if it was given."""
        return None if self.memory is None else parse_bytes(self.memory)

    def task_memory(self) -> int:
        """Return the memory of one task for its columns, in bytes: what is given, or 4 GB."""
        given = self.memory_bytes
        return 4 * 10**9 if given is None else given

    @contextmanager
    def running(self) -> Iterator[dict[str, Any]]:
        """Open the cluster and show progress; yields arguments of the functions of `gadc.packed`."""
        with tasks.open_executor(self.cluster) as executor, staging() as tell:
            yield {
                "executor": executor,
                "progress": tell,
                "memory": self.task_memory(),
                "workdir": self.workdir,
            }

    def print_plan(self, title: str, run: DiffusionRun, stages: list[Stage], *, as_json: bool) -> None:
        """Print what a command would do."""
        peak = planning.check_peak_memory(title, run, self.memory_bytes)
        print_stages(title, planning.plan_stages(stages), peak, as_json=as_json)


def print_stages(
    title: str, planned: Sequence[PlannedStage], peak: int, *, disk: int | None = None, as_json: bool
) -> None:
    """Print the stages of a plan and what they take.

    Args:
        title: Name of the command.
        planned: The stages; none for work that is done in memory at once.
        peak: Memory of the largest task in bytes.
        disk: Disk space in bytes, if it is known. Default: it is not printed.
        as_json: Whether to print JSON.
    """
    total = sum(stage.seconds for stage in planned)
    if as_json:
        rows = [asdict(stage) for stage in planned]
        facts = {"stages": rows, "peak_memory": peak, "seconds_of_one_worker": total}
        return print_json(facts if disk is None else facts | {"disk": disk})
    if planned:
        print_rows("Stages", [_row(stage) for stage in planned])
    shown = {"memory of the largest task" if planned else "memory, at once": format_bytes(peak)}
    if disk is not None:
        shown["disk"] = format_bytes(disk)
    if planned:
        shown["time of one worker"] = format_seconds(total)
    print_facts(f"{title}: nothing was done", shown)


def _row(stage: PlannedStage) -> dict[str, str]:
    return {
        "stage": stage.name,
        "tasks": "as needed" if stage.num_tasks is None else str(stage.num_tasks),
        "done": str(stage.num_done),
        "bytes": format_bytes(stage.num_bytes),
        "time": format_seconds(stage.seconds),
    }


def format_seconds(seconds: float) -> str:
    """Format a forecast of time in the unit that suits it."""
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
