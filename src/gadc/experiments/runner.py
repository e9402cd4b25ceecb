"""Many runs: what is left to do, in parallel processes, each result on disk as soon as it is there."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import torch

from gadc.experiments.results import Result, append_result, fingerprint, read_results, results_file
from gadc.experiments.run import run_once, settings_of
from gadc.experiments.spec import Cell, Row, Table


@dataclass(frozen=True)
class Task:
    """All rows of one cell and run: they share the data, which is then made once."""

    table: Table
    cell: Cell
    run: int
    rows: tuple[Row, ...]

    def __call__(self) -> list[Result]:
        """Do the runs."""
        return [run_once(self.table, row, self.cell, self.run) for row in self.rows]


def current_results(table: Table, out: Path) -> list[Result]:
    """Stored results of the table as it is now; those of other settings are left aside, not mixed in."""
    hashes = {
        (row.name, cell.name): fingerprint(settings_of(row, cell))
        for row in table.rows
        for cell in table.cells
        if row.runs_in(cell.name)
    }
    stored = read_results(results_file(out, table.name))
    return [
        result for result in stored if hashes.get((result["row"], result["cell"])) == result["settings_hash"]
    ]


def plan(
    table: Table, done: Iterable[Result], *, rows: list[str] | None, cells: list[str] | None, runs: int | None
) -> list[Task]:
    """What is left to do, run by run over all cells, so that they grow together; failed ones anew."""
    finished = {(r["row"], r["cell"], r["run"]) for r in done if r["status"] == "ok"}
    chosen_rows = [table.row(name) for name in rows] if rows else table.rows
    chosen_cells = [table.cell(name) for name in cells] if cells else table.cells
    wanted = {row.name: runs if runs is not None else row.runs or table.runs for row in chosen_rows}
    tasks = []
    for run in range(max(wanted.values(), default=0)):
        for cell in chosen_cells:
            left = tuple(
                row
                for row in chosen_rows
                if row.runs_in(cell.name)
                and run < wanted[row.name]
                and (row.name, cell.name, run) not in finished
            )
            if left:
                tasks.append(Task(table, cell, run, left))
    return tasks


def execute(tasks: list[Task], out: Path, *, jobs: int = 1) -> Iterator[Result]:
    """Do the tasks and yield each result once it is stored.

    With `jobs` > 1, processes with one thread each; this process alone writes, so lines never mix.
    """
    for result in _results(tasks, jobs):
        append_result(results_file(out, result["table"]), result)
        yield result


def _results(tasks: list[Task], jobs: int) -> Iterator[Result]:
    if jobs == 1:
        for task in tasks:
            yield from task()
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_worker) as pool:
        waiting: set[Future[list[Result]]] = set()
        queue = iter(tasks)
        try:
            while True:
                # A short queue: an interrupt then loses little, and memory holds few tasks.
                for task in queue:
                    waiting.add(pool.submit(task))
                    if len(waiting) >= 2 * jobs:
                        break
                if not waiting:
                    return
                finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield from future.result()
        finally:
            for future in waiting:
                future.cancel()


def _start_worker() -> None:
    """One thread a process; and no worker outlives a parent that was killed."""
    torch.set_num_threads(1)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    multiprocessing.connection.wait([sentinel])
    os._exit(1)
