"""Run stages of tasks on an executor, or in this process.

All that is asked of the executor is `submit(function, *arguments)` and the future that it returns. A worker
that is lost costs the tasks it was working on, which are submitted again once the other tasks have ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from queue import Empty, SimpleQueue
from typing import Any

from gadc._base.tasks._progress import Meter, Progress
from gadc._base.tasks._remote import submission
from gadc._base.tasks._task import Stage, Task

# How other executors call the loss of a worker; their packages need not be installed.
_LOST = {"KilledWorker", "TerminatedWorkerError", "WorkerCrashedError", "WorkerLost"}
_SHARED_FOLDER_SECONDS = 5.0  # a file of another machine may appear this much later in a shared folder


def run_stages(
    stages: Sequence[Stage],
    *,
    executor: Executor | None = None,
    retries: int = 3,
    progress: Callable[[Progress], None] | None = None,
) -> None:
    """Run the tasks whose outputs are missing, stage by stage.

    Args:
        stages: The stages, in their order.
        executor: Any `concurrent.futures.Executor`; by default tasks run here, one after the other.
            A `ProcessPoolExecutor` whose process was killed is replaced by a new one of the same size.
        retries: How often in a row workers may be lost without a single task ending well, 3 by default.
        progress: Called when a stage begins and after every task; by default nothing is called.

    Raises:
        ChildProcessError: Workers were lost more often than `retries` allows.
        ConnectionError: The executor cancelled tasks, such as when its scheduler is gone.
        FileNotFoundError: A task ended well, but its outputs cannot be seen from here.
        Exception: Whatever a task raised, with the name of the task. Tasks that have not started are
            cancelled, also by `KeyboardInterrupt`.
    """
    pool = _Pool(executor)
    try:
        for number, stage in enumerate(stages, 1):
            tasks = stage.make_tasks()
            waiting = [task for task in tasks if not task.is_done()]
            meter = Meter(stage.name, (number, len(stages)), tasks, waiting, progress)
            strikes = 0
            while waiting:
                lost = pool.run(waiting, meter)
                strikes = strikes + 1 if len(lost) == len(waiting) else 0
                if strikes > retries:
                    raise _too_many_lost(lost, strikes)
                waiting = lost
    finally:
        pool.close()


class _Pool:
    """The executor of a run; it is replaced when it is broken and can be made again."""

    def __init__(self, executor: Executor | None) -> None:
        self._executor, self._own = executor, False

    def run(self, tasks: list[Task], meter: Meter) -> list[Task]:
        """Run tasks; return those whose worker was lost."""
        if self._executor is None:
            for task in tasks:
                _run_here(task)
                meter.count(task)
            return []
        return self._run_elsewhere(self._executor, tasks, meter)

    def _run_elsewhere(self, executor: Executor, tasks: list[Task], meter: Meter) -> list[Task]:
        ended: SimpleQueue[Future[Any]] = SimpleQueue()
        running: dict[Future[Any], Task] = {}
        lost: list[Task] = []
        broken = False
        try:
            for number, task in enumerate(tasks):
                try:
                    future = executor.submit(*submission(task.function, task.arguments))
                except BrokenExecutor:
                    lost += tasks[number:]
                    broken = True
                    break
                running[future] = task
                future.add_done_callback(ended.put)
            while running:
                future = _next(ended)
                task = running.pop(future)
                error = _failure(future, task)
                broken |= isinstance(error, BrokenExecutor)
                if error is not None and not task.is_done():
                    lost.append(task)
                    continue
                _check_outputs(task)
                meter.count(task)
        finally:
            for future in running:
                future.cancel()
        if broken:
            self._renew(executor)
        return lost

    def _renew(self, executor: Executor) -> None:
        """Replace a broken pool of processes by a new one; other executors recover by themselves or not."""
        if isinstance(executor, ProcessPoolExecutor):
            known: Any = executor  # the settings of a pool are private, and the same in all versions
            self.close()
            self._own = True
            self._executor = ProcessPoolExecutor(
                known._max_workers,
                mp_context=known._mp_context,
                initializer=known._initializer,
                initargs=known._initargs,
            )

    def close(self) -> None:
        """End a pool that was made here; the caller ends the others."""
        if self._own and self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)


def _next(ended: SimpleQueue[Future[Any]]) -> Future[Any]:
    while True:
        try:
            return ended.get(timeout=1.0)  # without a limit, some systems do not let Ctrl-C through
        except Empty:
            continue


def _run_here(task: Task) -> None:
    try:
        task.function(*task.arguments)
    except Exception as error:
        _name_task(error, task)
        raise
    _check_outputs(task)


def _failure(future: Future[Any], task: Task) -> BaseException | None:
    """Return None for a task that ended well and the error of a lost worker; raise any other error."""
    try:
        error = future.exception()
    except CancelledError:
        raise ConnectionError(
            f"run_stages: the executor cancelled the task {task.name}, most likely because its scheduler is "
            "gone; start it again and repeat the command, which resumes."
        ) from None
    if error is None or isinstance(error, BrokenExecutor) or type(error).__name__ in _LOST:
        return error
    _name_task(error, task)
    raise error


def _name_task(error: BaseException, task: Task) -> None:
    """Add the name of the task to the message; the type of the error says what to do about it."""
    note = f"(in the task {task.name})"
    if isinstance(error, OSError) and error.strerror:
        error.strerror = f"{error.strerror} {note}"
    elif len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]} {note}",)
    elif hasattr(error, "add_note"):  # Python 3.11
        error.add_note(note)


def _check_outputs(task: Task) -> None:
    """Wait for the outputs of a finished task, which a shared folder may show a little later."""
    limit = time.monotonic() + _SHARED_FOLDER_SECONDS
    while not task.is_done():
        if time.monotonic() > limit:
            raise FileNotFoundError(
                f"run_stages: the task {task.name} has ended, and {task.outputs[0]} is not there; the work "
                "folder must be shared by this process and all workers under the same name."
            )
        time.sleep(0.05)


def _too_many_lost(lost: list[Task], strikes: int) -> ChildProcessError:
    names = ", ".join(task.name for task in lost[:3]) + (", ..." if len(lost) > 3 else "")
    return ChildProcessError(
        f"run_stages: the worker process died {strikes} times in a row, most likely out of memory, in "
        f"{len(lost)} task{'s' if len(lost) > 1 else ''}: {names}. Repeating the command resumes."
    )
