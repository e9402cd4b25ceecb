"""How far a run of stages is, and how long the rest may take."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from gadc._base.tasks._task import Task


@dataclass(frozen=True, kw_only=True)
class Progress:
    """State of a run after a task has ended, or when a stage begins.

    Attributes:
        stage: Name of the stage.
        number: Number of the stage, from 1.
        num_stages: Number of stages.
        tasks_done: Tasks of this stage that are done, by this run or by an earlier one.
        num_tasks: Tasks of this stage.
        bytes_done: Bytes of the tasks that are done in this stage.
        num_bytes: Bytes of all tasks of this stage.
        seconds: Time since this stage began.
        seconds_left: Forecast of the time until this stage ends; None before its first task has ended.
    """

    stage: str
    number: int
    num_stages: int
    tasks_done: int
    num_tasks: int
    bytes_done: int
    num_bytes: int
    seconds: float
    seconds_left: float | None


class Meter:
    """Count the tasks of one stage and tell the caller of `run_stages`."""

    def __init__(
        self,
        stage: str,
        place: tuple[int, int],
        tasks: list[Task],
        waiting: list[Task],
        tell: Callable[[Progress], None] | None,
    ) -> None:
        self._stage, self._place, self._tell, self._tasks = stage, place, tell, len(tasks)
        self._bytes = sum(task.num_bytes for task in tasks)
        self._known_tasks = len(tasks) - len(waiting)
        self._known_bytes = self._bytes - sum(task.num_bytes for task in waiting)
        self._done = self._done_bytes = 0
        self._start = time.monotonic()
        self._report()

    def count(self, task: Task) -> None:
        """Count a task that has just ended well."""
        self._done += 1
        self._done_bytes += task.num_bytes
        self._report()

    def _report(self) -> None:
        if self._tell is None:
            return
        seconds = time.monotonic() - self._start
        tasks, done_bytes = self._known_tasks + self._done, self._known_bytes + self._done_bytes
        left = None
        if tasks == self._tasks:
            left = 0.0
        elif self._done_bytes:
            left = seconds * (self._bytes - done_bytes) / self._done_bytes
        elif self._done:
            left = seconds * (self._tasks - tasks) / self._done
        self._tell(
            Progress(
                stage=self._stage,
                number=self._place[0],
                num_stages=self._place[1],
                tasks_done=tasks,
                num_tasks=self._tasks,
                bytes_done=done_bytes,
                num_bytes=self._bytes,
                seconds=seconds,
                seconds_left=left,
            )
        )
