"""The work behind `gadc reproduce` and `gadc report`; apart from them, so that `gadc --help` starts fast."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as RichTable

from gadc._base.files import write_text
from gadc.experiments import (
    Result,
    Store,
    Summary,
    Table,
    Task,
    current_results,
    execute,
    load_table,
    plan,
    summarize,
    table_names,
)
from gadc.report import write_report
from gadc.report._page import reproduction_page

_stderr = Console(stderr=True)


def reproduce(
    names: list[str],
    *,
    rows: list[str] | None,
    columns: list[str] | None,
    runs: int | None,
    jobs: int,
    resume: bool,
    out: Path,
    as_json: bool,
) -> bool:
    """Do what is left of the tables and print our figures beside the paper's.

    Returns:
        Whether every run succeeded.
    """
    chosen = [load_table(name) for name in names or table_names()]
    # A name that no table has is an error before anything is moved.
    _check_names("rows", rows, [row.name for table in chosen for row in table.rows])
    _check_names("columns", columns, [column.name for table in chosen for column in table.columns])
    store = Store(out)
    if not resume:
        for table in chosen:
            aside = store.put_aside(table.name)
            if aside is not None:
                _stderr.print(f"Earlier results of {table.name} are now in {aside}.")
    tasks = [
        task
        for table in chosen
        for task in plan(
            table,
            current_results(table, store),
            rows=_known(rows, [row.name for row in table.rows]),
            columns=_known(columns, [column.name for column in table.columns]),
            runs=runs,
        )
    ]
    failed = _work(tasks, store, jobs)
    summaries = [
        summary
        for table in chosen
        for summary in summarize(table, _selected(current_results(table, store), runs))
        if (not rows or summary.row in rows) and (not columns or summary.column in columns)
    ]
    _print(summaries, as_json)
    return failed == 0


def report(folder: Path, out: Path | None, docs: Path | None) -> None:
    """Write stored results as Markdown, LaTeX and HTML with plots."""
    if not folder.is_dir():
        raise ValueError(f"report: folder must be a folder of results, got {str(folder)!r}.")
    tables = [load_table(name) for name in table_names()]
    store = Store(folder)
    summarized = [(table, summarize(table, current_results(table, store))) for table in tables]
    for path in write_report(summarized, out or folder / "report"):
        _stderr.print(f"Wrote {path}")
    if docs is not None:
        write_text(docs, reproduction_page(summarized))
        _stderr.print(f"Wrote {docs}")


def _work(tasks: list[Task], store: Store, jobs: int) -> int:
    """Do the tasks under a progress bar and return how many runs failed."""
    total = sum(len(task.cells) for task in tasks)
    if not total:
        return 0
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    failed = 0
    with Progress(*columns, console=_stderr) as progress:
        bar = progress.add_task("starting", total=total)
        for result in execute(tasks, store, jobs=jobs):
            outcome = "failed" if result.test is None else f"{result.test:.2f}"
            progress.update(bar, advance=1, description=f"{result.name}: {outcome}")
            if not result.ok:
                failed += 1
                reason = escape(f"{result.name}: {result.error}")
                progress.console.print(f"[red]failed[/red] {reason}", highlight=False)
    return failed


def _print(summaries: list[Summary], as_json: bool) -> None:
    if as_json:
        keys = ("table", "row", "column", "runs", "mean", "std", "paper_mean", "paper_std")
        typer.echo(json.dumps([{key: asdict(s)[key] for key in keys} for s in summaries], indent=2))
        return
    shown = RichTable()
    for column in ("table", "row", "column", "ours", "runs", "paper", "difference"):
        shown.add_column(column, justify="left" if column in ("table", "row", "column") else "right")
    for s in summaries:
        if s.runs or s.failed:
            gap = "" if s.gap is None else f"{'✓' if s.within_target else '✗'} {s.gap:+.2f}"
            runs = f"{s.runs}" + (f" ({s.failed} failed)" if s.failed else "")
            ours, paper = _figure(s.mean, s.std), _figure(s.paper_mean, s.paper_std)
            shown.add_row(s.table, s.row, s.column, ours, runs, paper, gap)
    Console().print(shown)


def _figure(mean: float | None, std: float | None) -> str:
    if mean is None:
        return ""
    return f"{mean:.2f}" if std is None else f"{mean:.2f} ± {std:.2f}"


def list_tables(as_json: bool) -> None:
    """Print what there is to reproduce."""
    tables = [load_table(name) for name in table_names()]
    if as_json:
        typer.echo(json.dumps([_listing(table) for table in tables], indent=2, ensure_ascii=False))
        return
    shown = RichTable("table", "source", "title", "runs", "rows that run", "columns")
    for table in tables:
        item = _listing(table)
        shown.add_row(
            table.name,
            table.source,
            table.title,
            str(table.runs),
            ", ".join(item["rows"]),
            str(len(item["columns"])),
        )
    Console().print(shown)


def _listing(table: Table) -> dict[str, Any]:
    return {
        "table": table.name,
        "source": table.source,
        "title": table.title,
        "runs": table.runs,
        "rows": [row.name for row in table.rows if row.model or row.measure],
        "columns": [column.name for column in table.columns],
    }


def _known(wanted: list[str] | None, names: list[str]) -> list[str] | None:
    """Keep the wanted names that the table has; None stands for all."""
    return None if wanted is None else [name for name in wanted if name in names]


def _check_names(what: str, wanted: list[str] | None, names: list[str]) -> None:
    unknown = ", ".join(repr(name) for name in wanted or [] if name not in names)
    if unknown:
        known = ", ".join(dict.fromkeys(names))
        raise ValueError(f"reproduce: --{what} must be among {known}, got {unknown}.")


def _selected(results: Iterable[Result], runs: int | None) -> list[Result]:
    """Keep the first `runs` runs of each cell; all of them if no number was given."""
    return [result for result in results if runs is None or result.run < runs]
