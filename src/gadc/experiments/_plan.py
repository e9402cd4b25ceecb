"""What is left to do of a table, given the runs that are stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gadc.experiments._fingerprint import fingerprint
from gadc.experiments._result import Result
from gadc.experiments._run import settings_of
from gadc.experiments._spec import Cell, Table
from gadc.experiments._store import Store
from gadc.experiments._tables import home_of


@dataclass(frozen=True)
class Task:
    """One run of several cells of a column: they share the data, which is then prepared once."""

    cells: tuple[Cell, ...]
    run: int


def current_results(table: Table, store: Store) -> list[Result]:
    """Read the stored runs of the table as it is now; runs with other settings are left out.

    A run that was made for a cell of another table is given under the names of this one.
    """
    homes = [(cell, home_of(cell)) for cell in table.cells()]
    stored: defaultdict[tuple[str, str, str, str], list[Result]] = defaultdict(list)
    for name in {home.table.name for _, home in homes}:
        for result in store.read(name):
            stored[name, result.row, result.column, result.settings_hash].append(result)
    found = []
    for cell, home in homes:
        key = (home.table.name, home.row.name, home.column.name, fingerprint(settings_of(home)))
        found += [
            replace(result, table=table.name, row=cell.row.name, column=cell.column.name)
            for result in stored[key]
        ]
    return found


def plan(
    table: Table,
    done: Iterable[Result],
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    runs: int | None = None,
) -> list[Task]:
    """List what is left to do: run by run over all columns, so that they grow together.

    Args:
        table: The table.
        done: Its stored runs; failed ones are done again.
        rows: Names of the rows to run; all by default.
        columns: Names of the columns to run; all by default.
        runs: Number of runs per cell; the number in the table by default.
    """
    finished = {(result.row, result.column, result.run) for result in done if result.ok}
    wanted = [
        (cell, home_of(cell), runs or cell.row.runs or table.runs) for cell in table.cells(rows, columns)
    ]
    tasks = []
    for run in range(max((number for _, _, number in wanted), default=0)):
        sharing: dict[tuple[str, str], list[Cell]] = {}  # cells with the same data
        for cell, home, number in wanted:
            if run < number and (cell.row.name, cell.column.name, run) not in finished:
                sharing.setdefault((home.column.name, home.table.name), []).append(home)
        tasks += [Task(tuple(cells), run) for cells in sharing.values()]
    return tasks
