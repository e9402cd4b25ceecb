"""Do many runs, in one process or in several, and store each result as soon as it is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

import torch

from gadc._base.processes import end_with_parent, process_context
from gadc.experiments._plan import Task
from gadc.experiments._result import Result
from gadc.experiments._run import failed_run, run_once
from gadc.experiments._store import Store


def execute(tasks: Iterable[Task], store: Store, *, jobs: int = 1) -> Iterator[Result]:
    """Do the tasks and yield each result once it is stored.

    Args:
        tasks: What to do.
        store: Where the results go.
        jobs: Number of processes; if there are several, each has one thread.
    """
    one_by_one = (run_once(cell, task.run) for task in tasks for cell in task.cells)
    for result in one_by_one if jobs == 1 else _in_parallel(tasks, jobs):
        store.append(result)
        yield result


def _in_parallel(tasks: Iterable[Task], jobs: int) -> Iterator[Result]:
    """Let each process take a task and do its runs one after another, until no task is left."""
    queue = iter(tasks)
    workers = [_Worker(queue) for _ in range(jobs)]
    try:
        busy = {future: worker for worker in workers if (future := worker.start()) is not None}
        while busy:
            for future in wait(busy, return_when=FIRST_COMPLETED).done:
                worker = busy.pop(future)
                result = worker.outcome(future)
                following = worker.repeat() if result is None else worker.start()
                if following is not None:
                    busy[following] = worker
                if result is not None:
                    yield result
    finally:
        for worker in workers:
            worker.pool.shutdown()


class _Worker:
    """A process and its runs. If the process dies (out of memory, a crash), the others carry on.

    Args:
        queue: Tasks, shared with the other workers: each takes its next one from it.
    """

    def __init__(self, queue: Iterator[Task]) -> None:
        self.runs = ((cell, task.run) for task in queue for cell in task.cells)
        self.pool = _one_process()
        self.deaths = 0

    def start(self) -> Future[Result] | None:
        """Begin the next run, if there is one."""
        following = next(self.runs, None)
        if following is None:
            return None
        self.run, self.deaths = following, 0
        return self.repeat()

    def repeat(self) -> Future[Result]:
        """Begin the present run, for the first time or again."""
        try:
            return self.pool.submit(run_once, *self.run)
        except BrokenProcessPool:  # the process died between two runs: no run is to blame
            self._replace_process()
            return self.pool.submit(run_once, *self.run)

    def outcome(self, future: Future[Result]) -> Result | None:
        """Return the result; None if the process died of this run for the first time: it is tried again."""
        if not isinstance(future.exception(), BrokenProcessPool):
            return future.result()
        self._replace_process()
        self.deaths += 1
        if self.deaths == 1:
            return None
        return failed_run(*self.run, "the worker process died, most likely out of memory")

    def _replace_process(self) -> None:
        self.pool.shutdown()
        self.pool = _one_process()


def _one_process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=process_context(__name__), initializer=_start_worker)


def _start_worker() -> None:
    """Use one thread per process, and end this process if its parent is killed."""
    torch.set_num_threads(1)
    end_with_parent()
