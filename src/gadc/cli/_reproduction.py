"""The work behind `gadc reproduce` and `gadc report`; apart from them, so that `gadc --help` starts fast."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
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
from gadc.experiments._results import Result, put_aside, results_file
from gadc.experiments._runner import Task, current_results, execute, plan
from gadc.experiments._spec import Table, load_table, table_names
from gadc.experiments._summary import Summary, summarize
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
    """Do what is left of the tables and print ours beside theirs; says whether every run went well."""
    chosen = [load_table(name) for name in names or table_names()]
    rows_of = {table.name: _known(rows, [row.name for row in table.rows]) for table in chosen}
    columns_of = {table.name: _known(columns, [column.name for column in table.columns]) for table in chosen}
    # A name that no table has is an error before anything is moved.
    _check_names("rows", rows, [row.name for table in chosen for row in table.rows])
    _check_names("columns", columns, [column.name for table in chosen for column in table.columns])
    if not resume:
        for table in chosen:
            aside = put_aside(results_file(out, table.name))
            if aside is not None:
                _stderr.print(f"Earlier results of {table.name} are now in {aside}.")
    tasks = [
        task
        for table in chosen
        if rows_of[table.name] != [] and columns_of[table.name] != []
        for task in plan(
            table,
            current_results(table, out),
            rows=rows_of[table.name],
            columns=columns_of[table.name],
            runs=runs,
        )
    ]
    failed = _work(tasks, out, jobs)
    summaries = [
        summary
        for table in chosen
        for summary in summarize(table, _selected(current_results(table, out), runs))
        if (not rows or summary.row in rows) and (not columns or summary.column in columns)
    ]
    _print(summaries, as_json)
    return failed == 0


def report(folder: Path, out: Path | None, docs: Path | None) -> None:
    """Write stored results as Markdown, LaTeX and HTML with plots."""
    if not folder.is_dir():
        raise ValueError(f"report: folder must be a folder of results, got {str(folder)!r}.")
    tables = [load_table(name) for name in table_names()]
    summarized = [(table, summarize(table, current_results(table, folder))) for table in tables]
    for path in write_report(summarized, out or folder / "report"):
        _stderr.print(f"Wrote {path}")
    if docs is not None:
        write_text(docs, reproduction_page(summarized))
        _stderr.print(f"Wrote {docs}")


def _work(tasks: list[Task], out: Path, jobs: int) -> int:
    """Do the tasks under a progress bar; returns how many runs failed."""
    total = sum(len(task.rows) for task in tasks)
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
        for result in execute(tasks, out, jobs=jobs):
            failed += result["status"] != "ok"
            progress.update(bar, advance=1, description=_describe(result))
            if result["status"] != "ok":
                place = f"{result['table']} {result['row']} {result['column']} run {result['run']}"
                progress.console.print(f"[red]failed[/red] {place}: {result['error']}", highlight=False)
    return failed


def _describe(result: Result) -> str:
    value = f"{result['test']:.2f}" if result["status"] == "ok" else "failed"
    return f"{result['table']} {result['row']} {result['column']} #{result['run']}: {value}"


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
    """Those of the wanted names that are there; None for all."""
    return None if wanted is None else [name for name in wanted if name in names]


def _check_names(what: str, wanted: list[str] | None, names: list[str]) -> None:
    unknown = ", ".join(repr(name) for name in wanted or [] if name not in names)
    if unknown:
        known = ", ".join(dict.fromkeys(names))
        raise ValueError(f"reproduce: --{what} must be among {known}, got {unknown}.")


def _selected(results: Iterable[Result], runs: int | None) -> list[Result]:
    """Only the first `runs` of them, where that many were asked for."""
    return [result for result in results if runs is None or result["run"] < runs]
