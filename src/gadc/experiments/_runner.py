"""Many runs: what is left to do, in parallel processes, each result on disk as soon as it is there."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

import torch

from gadc.experiments._results import Result, append_result, fingerprint, read_results, results_file
from gadc.experiments._run import failed_run, run_once, settings_of
from gadc.experiments._spec import Cell, Column, Row, Table, home_cell

Run = tuple[Table, Row, Column, int]


@dataclass(frozen=True)
class Task:
    """All rows of one column and run: they share the data, which is then made once."""

    table: Table
    column: Column
    run: int
    rows: tuple[Row, ...]

    def runs(self) -> Iterator[Run]:
        """Each of them alone."""
        return ((self.table, row, self.column, self.run) for row in self.rows)


def current_results(table: Table, out: Path) -> list[Result]:
    """Stored results of the table as it is now; those of other settings are left aside, not mixed in."""
    stored: dict[str, dict[tuple[str, str], list[Result]]] = {}
    found = []
    for row in table.rows:
        for column in table.columns:
            if not row.runs_in(column.name):
                continue
            cell = home_cell(table, row, column)
            if cell.table.name not in stored:
                stored[cell.table.name] = _by_cell(read_results(results_file(out, cell.table.name)))
            wanted = fingerprint(settings_of(cell.row, cell.column))
            here = {"table": table.name, "row": row.name, "column": column.name}
            candidates = stored[cell.table.name].get((cell.row.name, cell.column.name), [])
            found += [result | here for result in candidates if result["settings_hash"] == wanted]
    return found


def _by_cell(results: Iterable[Result]) -> dict[tuple[str, str], list[Result]]:
    grouped: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        grouped.setdefault((result["row"], result["column"]), []).append(result)
    return grouped


def plan(
    table: Table,
    done: Iterable[Result],
    *,
    rows: list[str] | None,
    columns: list[str] | None,
    runs: int | None,
) -> list[Task]:
    """What is left to do, run by run over all columns, so that they grow together; failed ones anew."""
    finished = {(r["row"], r["column"], r["run"]) for r in done if r["status"] == "ok"}
    chosen_rows = [table.row(name) for name in rows] if rows else table.rows
    chosen_columns = [table.column(name) for name in columns] if columns else table.columns
    wanted = {row.name: runs if runs is not None else row.runs or table.runs for row in chosen_rows}
    tasks = []
    for run in range(max(wanted.values(), default=0)):
        for column in chosen_columns:
            left = [
                home_cell(table, row, column)
                for row in chosen_rows
                if row.runs_in(column.name)
                and run < wanted[row.name]
                and (row.name, column.name, run) not in finished
            ]
            tasks += _tasks(left, run)
    return tasks


def _tasks(cells: list[Cell], run: int) -> list[Task]:
    """One task for each table: its rows share their data."""
    by_table: dict[str, list[Cell]] = {}
    for cell in cells:
        by_table.setdefault(cell.table.name, []).append(cell)
    return [
        Task(group[0].table, group[0].column, run, tuple(cell.row for cell in group))
        for group in by_table.values()
    ]


def execute(tasks: list[Task], out: Path, *, jobs: int = 1) -> Iterator[Result]:
    """Do the tasks and yield each result once it is stored.

    With `jobs` > 1, processes with one thread each; this process alone writes, so lines never mix.
    """
    results = _one_by_one(tasks) if jobs == 1 else _in_parallel(tasks, jobs)
    for result in results:
        append_result(results_file(out, result["table"]), result)
        yield result


def _one_by_one(tasks: Iterable[Task]) -> Iterator[Result]:
    for task in tasks:
        for run in task.runs():
            yield run_once(*run)


def _in_parallel(tasks: Iterable[Task], jobs: int) -> Iterator[Result]:
    """Each process takes a task and does its runs one after another, until no task is left."""
    queue = iter(tasks)
    lanes = [_Lane(queue) for _ in range(jobs)]
    try:
        under_way = {future: lane for lane in lanes if (future := lane.start()) is not None}
        while under_way:
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                lane = under_way.pop(future)
                result = lane.outcome(future)
                following = lane.repeat() if result is None else lane.start()
                if following is not None:
                    under_way[following] = lane
                if result is not None:
                    yield result
    finally:
        for lane in lanes:
            lane.pool.shutdown()


class _Lane:
    """A process and what it has to do. Should it die (out of memory, a crash), the others do not notice.

    Args:
        queue: Tasks, shared with the other lanes: each takes its next one from it.
    """

    def __init__(self, queue: Iterator[Task]) -> None:
        self.runs = (run for task in queue for run in task.runs())
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
        """Begin the present run, for the first time or anew."""
        try:
            return self.pool.submit(run_once, *self.run)
        except BrokenProcessPool:  # the process died between two runs: no run is to blame
            self._new_process()
            return self.pool.submit(run_once, *self.run)

    def outcome(self, future: Future[Result]) -> Result | None:
        """The result; None where the process died of this run for the first time: it is worth another try."""
        if not isinstance(future.exception(), BrokenProcessPool):
            return future.result()
        self._new_process()
        self.deaths += 1
        if self.deaths == 1:
            return None
        return failed_run(*self.run, "its process died without a word; most often that is for want of memory")

    def _new_process(self) -> None:
        self.pool.shutdown()
        self.pool = _one_process()


def _one_process() -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=context, initializer=_start_worker)


def _start_worker() -> None:
    """One thread a process; and no worker outlives a parent that was killed."""
    torch.set_num_threads(1)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    multiprocessing.connection.wait([sentinel])
    os._exit(1)
