"""`gadc reproduce`: the tables of the paper, our figures beside the published ones."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from tqdm import tqdm

from gadc._base.deferred import deferred
from gadc.cli._manners import hides_progress
from gadc.cli._options.output import AsJson, check_folder
from gadc.cli._options.resume import Resume
from gadc.cli._output import print_json, print_rows, say

if TYPE_CHECKING:
    from gadc.experiments import Result, Store, Summary, Table, Task

with deferred():
    from gadc import experiments


_KEYS = ("table", "row", "column", "runs", "mean", "std", "paper_mean", "paper_std")  # of the JSON output

Tables = Annotated[
    list[str] | None,
    typer.Argument(help="Names of tables, or `list` to show them. Default: all tables."),
]
Rows = Annotated[str | None, typer.Option(help="Rows, separated by commas. Default: all rows.")]
Columns = Annotated[str | None, typer.Option(help="Columns, separated by commas. Default: all columns.")]
Runs = Annotated[int | None, typer.Option(min=1, help="Runs per cell. Default: the number of the paper.")]
Jobs = Annotated[int, typer.Option(min=1, help="Number of processes; each of several has one thread.")]


def reproduce(
    tables: Tables = None,
    rows: Rows = None,
    columns: Columns = None,
    runs: Runs = None,
    jobs: Jobs = 1,
    resume: Resume = True,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    as_json: AsJson = False,
) -> None:
    """Reproduce tables of the paper and print our figures beside the published ones.

    Every run is stored when it ends. An interrupted command resumes, also in the middle of a long run.

    Example: gadc reproduce metattack --columns cora-0.25 --rows gadc-iv,mlp --jobs 2
    """
    if tables == ["list"]:
        return _print_tables(as_json)
    chosen = [experiments.load_table(name) for name in tables or experiments.table_names()]
    # Both lists are checked before stored results are set aside.
    row_names = _read_names("rows", rows, [row.name for table in chosen for row in table.rows])
    column_names = _read_names("columns", columns, [one.name for table in chosen for one in table.columns])
    check_folder(out)
    store = experiments.Store(out)
    if not resume:
        _set_aside(store, chosen)
    tasks = [
        task
        for table in chosen
        for task in experiments.plan(
            table,
            experiments.current_results(table, store),
            rows=_known(row_names, [row.name for row in table.rows]),
            columns=_known(column_names, [column.name for column in table.columns]),
            runs=runs,
        )
    ]
    num_failed = _work(tasks, store, jobs)
    summaries = [
        summary
        for table in chosen
        for summary in experiments.summarize(
            table, _first_runs(experiments.current_results(table, store), runs)
        )
        if (not row_names or summary.row in row_names)
        and (not column_names or summary.column in column_names)
    ]
    _print_figures(summaries, as_json)
    raise typer.Exit(1 if num_failed else 0)


def _read_names(option: str, text: str | None, known: list[str]) -> list[str] | None:
    """Split a list of names; refuse a name that no table has."""
    if not text:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = ", ".join(repr(name) for name in names if name not in known)
    if unknown:
        choices = ", ".join(dict.fromkeys(known))
        raise ValueError(f"reproduce: --{option} must be among {choices}, got {unknown}.")
    return names


def _known(wanted: list[str] | None, names: list[str]) -> list[str] | None:
    """Keep the wanted names that the table has; None stands for all."""
    return None if wanted is None else [name for name in wanted if name in names]


def _first_runs(results: Iterable[Result], runs: int | None) -> list[Result]:
    """Keep the first `runs` runs of each cell; all of them if no number was given."""
    return [result for result in results if runs is None or result.run < runs]


def _set_aside(store: Store, tables: list[Table]) -> None:
    for table in tables:
        aside = store.put_aside(table.name)
        if aside is not None:
            say(f"Earlier results of {table.name} are now in {aside}.")


def _work(tasks: list[Task], store: Store, jobs: int) -> int:
    """Run the tasks under a progress bar and return the number of failed runs."""
    total = sum(len(task.cells) for task in tasks)
    if not total:
        return 0
    num_failed = 0
    with tqdm(total=total, desc="starting", disable=hides_progress()) as bar:
        for result in experiments.execute(tasks, store, jobs=jobs):
            outcome = "failed" if result.test is None else f"{result.test:.2f}"
            bar.set_description(f"{result.name}: {outcome}", refresh=False)
            bar.update()
            if not result.ok:
                num_failed += 1
                tqdm.write(f"failed {result.name}: {result.error}", file=sys.stderr)
    return num_failed


def _print_figures(summaries: list[Summary], as_json: bool) -> None:
    if as_json:
        return print_json([{key: asdict(summary)[key] for key in _KEYS} for summary in summaries])
    rows = [_figures(summary) for summary in summaries if summary.runs or summary.failed]
    print_rows("Our figures beside the published ones", rows)


def _figures(summary: Summary) -> dict[str, Any]:
    gap = "" if summary.gap is None else f"{'✓' if summary.within_target else '✗'} {summary.gap:+.2f}"
    return {
        "table": summary.table,
        "row": summary.row,
        "column": summary.column,
        "ours": _format(summary.mean, summary.std),
        "runs": f"{summary.runs}" + (f" ({summary.failed} failed)" if summary.failed else ""),
        "paper": _format(summary.paper_mean, summary.paper_std),
        "difference": gap,
    }


def _format(mean: float | None, std: float | None) -> str:
    if mean is None:
        return ""
    return f"{mean:.2f}" if std is None else f"{mean:.2f} ± {std:.2f}"


def _print_tables(as_json: bool) -> None:
    listed = [_describe(experiments.load_table(name)) for name in experiments.table_names()]
    if as_json:
        return print_json(listed)
    shown = [
        {**table, "rows": ", ".join(table["rows"]), "columns": len(table["columns"])} for table in listed
    ]
    print_rows("Tables that can be reproduced", shown)


def _describe(table: Table) -> dict[str, Any]:
    return {
        "table": table.name,
        "source": table.source,
        "title": table.title,
        "runs": table.runs,
        "rows": [row.name for row in table.rows if row.model or row.measure],
        "columns": [column.name for column in table.columns],
    }
