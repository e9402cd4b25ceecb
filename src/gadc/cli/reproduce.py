"""`gadc reproduce` and `gadc report`: the tables of the paper, ours beside theirs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

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

from gadc.experiments.results import Result, put_aside, results_file
from gadc.experiments.runner import Task, current_results, execute, plan
from gadc.experiments.spec import Table, load_table, table_names
from gadc.experiments.summary import Summary, summarize

_stderr = Console(stderr=True)


def reproduce(
    tables: Annotated[
        list[str] | None, typer.Argument(help="Tables to run, all of them by default; `list` shows them.")
    ] = None,
    rows: Annotated[str | None, typer.Option(help="Rows to run, separated by commas.")] = None,
    cells: Annotated[str | None, typer.Option(help="Cells to run, separated by commas.")] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Runs of each cell; the paper's number by default.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes, each with one thread.")] = 1,
    resume: Annotated[
        bool,
        typer.Option("--resume/--fresh", help="Go on from stored results, or put them aside and start anew."),
    ] = True,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Reproduce tables of the paper, resumably, and print ours beside theirs.

    Example: gadc reproduce metattack --cells cora-0.25 --rows gadc-iv,mlp --jobs 2
    """
    if tables == ["list"]:
        _list_tables(as_json)
        return
    chosen = [load_table(name) for name in tables or table_names()]
    if not resume:
        for table in chosen:
            aside = put_aside(results_file(out, table.name))
            if aside is not None:
                _stderr.print(f"Earlier results of {table.name} are now in {aside}.")
    tasks = [
        task
        for table in chosen
        for task in plan(
            table, current_results(table, out), rows=_names(rows), cells=_names(cells), runs=runs
        )
    ]
    failed = _work(tasks, out, jobs)
    summaries = [
        summary
        for table in chosen
        for summary in summarize(table, _selected(current_results(table, out), runs))
        if _wanted(summary, _names(rows), _names(cells))
    ]
    _print(summaries, as_json)
    if failed:
        raise typer.Exit(1)


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of the results.")],
    out: Annotated[
        Path | None, typer.Option(help="Where the report goes; `report` in that folder by default.")
    ] = None,
    docs: Annotated[Path | None, typer.Option(help="Also write all tables as one Markdown page.")] = None,
) -> None:
    """Write stored results as Markdown, LaTeX and HTML with plots.

    Example: gadc report results --docs docs/reproduction.md
    """
    from gadc.report import write_report
    from gadc.report.page import reproduction_page

    if not folder.is_dir():
        raise ValueError(f"report: folder must be a folder of results, got {str(folder)!r}.")
    tables = [load_table(name) for name in table_names()]
    summarized = [(table, summarize(table, current_results(table, folder))) for table in tables]
    for path in write_report(summarized, out or folder / "report"):
        _stderr.print(f"Wrote {path}")
    if docs is not None:
        docs.write_text(reproduction_page(summarized), encoding="utf-8")
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
                place = f"{result['table']} {result['row']} {result['cell']} run {result['run']}"
                progress.console.print(f"[red]failed[/red] {place}: {result['error']}", highlight=False)
    return failed


def _describe(result: Result) -> str:
    value = f"{result['test']:.2f}" if result["status"] == "ok" else "failed"
    return f"{result['table']} {result['row']} {result['cell']} #{result['run']}: {value}"


def _print(summaries: list[Summary], as_json: bool) -> None:
    if as_json:
        keys = ("table", "row", "cell", "runs", "mean", "std", "paper_mean", "paper_std")
        typer.echo(json.dumps([{key: asdict(s)[key] for key in keys} for s in summaries], indent=2))
        return
    shown = RichTable()
    for column in ("table", "row", "cell", "ours", "runs", "paper", "difference"):
        shown.add_column(column, justify="left" if column in ("table", "row", "cell") else "right")
    for s in summaries:
        if s.runs or s.failed:
            gap = "" if s.gap is None else f"{'✓' if s.within_target else '✗'} {s.gap:+.2f}"
            runs = f"{s.runs}" + (f" ({s.failed} failed)" if s.failed else "")
            ours, paper = _figure(s.mean, s.std), _figure(s.paper_mean, s.paper_std)
            shown.add_row(s.table, s.row, s.cell, ours, runs, paper, gap)
    Console().print(shown)


def _figure(mean: float | None, std: float | None) -> str:
    if mean is None:
        return ""
    return f"{mean:.2f}" if std is None else f"{mean:.2f} ± {std:.2f}"


def _list_tables(as_json: bool) -> None:
    tables = [load_table(name) for name in table_names()]
    if as_json:
        typer.echo(json.dumps([_listing(table) for table in tables], indent=2, ensure_ascii=False))
        return
    shown = RichTable("table", "source", "title", "runs", "rows that run", "cells")
    for table in tables:
        item = _listing(table)
        shown.add_row(
            table.name,
            table.source,
            table.title,
            str(table.runs),
            ", ".join(item["rows"]),
            str(len(item["cells"])),
        )
    Console().print(shown)


def _listing(table: Table) -> dict[str, Any]:
    return {
        "table": table.name,
        "source": table.source,
        "title": table.title,
        "runs": table.runs,
        "rows": [row.name for row in table.rows if row.model or row.measure],
        "cells": [cell.name for cell in table.cells],
    }


def _names(text: str | None) -> list[str] | None:
    return [name.strip() for name in text.split(",") if name.strip()] if text else None


def _selected(results: Iterable[Result], runs: int | None) -> list[Result]:
    """Only the first `runs` of them, where that many were asked for."""
    return [result for result in results if runs is None or result["run"] < runs]


def _wanted(summary: Summary, rows: list[str] | None, cells: list[str] | None) -> bool:
    return (not rows or summary.row in rows) and (not cells or summary.cell in cells)
