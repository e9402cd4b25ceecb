"""Print facts, tables and JSON, and write tables that appear whole or not at all."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gadc._base.deferred import deferred
from gadc._base.text import visible
from gadc.cli._manners import manners

with deferred():
    import polars as pl

    from gadc.datasets.tables import _writers as writers


STANDARD_OUTPUT = Path("-")
_FORMULA_STARTS = r"=+\-@\t\r\n＝＋－＠"  # the last four are their wide forms, which some programs accept


def print_json(value: Any) -> None:
    """Print JSON on standard output (on standard error after a table), with null for NaN and infinity."""
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False)
    # Bytes of a file name may not be UTF-8.
    typer.echo(text.encode(errors="backslashreplace").decode(), err=manners.piped)


def print_facts(title: str, facts: dict[str, Any]) -> None:
    """Print facts as a table of two columns, without empty ones."""
    table = Table(show_header=False, box=None)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in facts.items():
        if value not in (None, []):
            table.add_row(key.replace("_", " "), escape(format_value(value)))
    _print_titled(title, table)


def print_rows(title: str, rows: list[dict[str, Any]], *, wrap: str | None = None) -> None:
    """Print records as a table with numbers aligned to the right.

    Args:
        title: Heading.
        rows: The records, all with the same keys.
        wrap: The only column whose text may be wrapped. Default: all columns.
    """
    table = Table(box=None)
    for key, value in rows[0].items() if rows else ():
        side: Any = "left" if isinstance(value, str) else "right"
        no_wrap = wrap is not None and key != wrap
        table.add_column(escape(visible(key.replace("_", " "))), justify=side, no_wrap=no_wrap)
    for row in rows:
        table.add_row(*(escape(format_value(value)) for value in row.values()))
    _print_titled(title, table)


def _print_titled(title: str, table: Table) -> None:
    # Rich keeps bold letters under NO_COLOR, and a file or another program wants neither.
    console = Console(stderr=manners.piped, color_system=None if os.environ.get("NO_COLOR") else "auto")
    console.print(visible(title), style="bold", markup=False, highlight=False, soft_wrap=True)
    console.print(table)
    console.print()


def format_value(value: Any) -> str:
    """Format a value for a reader: thousands separated, lists joined, nothing for None."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {format_value(item)}" for key, item in value.items() if item is not None)
    if isinstance(value, list):
        texts = [format_value(item) for item in value]
        return ("\n" if any(len(item) > 20 for item in texts) else ", ").join(texts)
    return "" if value is None else visible(str(value))


def say(message: str) -> None:
    """Print a line on standard error, so that standard output holds the result alone; nothing if quiet."""
    if not manners.quiet:
        typer.echo(visible(message), err=True)


def command_line(context: typer.Context) -> str:
    """Return the command as it was given, ready to be repeated."""
    words = ["gadc", context.info_name or ""]
    for parameter in context.command.params:
        name, value = parameter.name or "", context.params.get(parameter.name or "")
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE":
            continue
        if parameter.param_type_name == "argument":
            words.append(str(value))
        elif isinstance(value, bool):
            words.append((parameter.opts if value else parameter.secondary_opts)[-1])
        else:
            for one in value if isinstance(value, list | tuple) else (value,):
                words += [parameter.opts[-1], "***" if name == "db" else str(one)]  # may hold a password
    return shlex.join(words)


def write_table(frame: pl.DataFrame, path: Path, *, escape_formulas: bool = False) -> None:
    """Write a table in the format of its suffix; the file appears whole or not at all.

    Args:
        frame: The table.
        path: The file; "-" writes CSV to standard output, and what is printed later goes to standard error.
        escape_formulas: Whether text that a spreadsheet program would run gets an apostrophe in front.
            Default: no.
    """
    frame = escape_cells(frame) if escape_formulas else frame
    if path != STANDARD_OUTPUT:
        return writers.write_frame("--out", frame, path)
    manners.piped = True
    typer.echo(writers.to_csv("--out", frame), nl=False)


def escape_cells(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe in front of every text cell and header that a spreadsheet reads as a formula."""
    starts = f"^[{_FORMULA_STARTS}]"
    texts = [name for name, kind in frame.schema.items() if kind in (pl.String, pl.Categorical, pl.Enum)]
    for name in texts:
        column = frame[name].cast(pl.String)
        runs = column.str.contains(starts)
        frame = frame.with_columns(pl.when(runs).then("'" + column).otherwise(column).alias(name))
    for name in frame.columns:
        if re.match(starts, name):
            free = f"'{name}"
            while free in frame.columns:
                free = f"'{free}"
            frame = frame.rename({name: free})
    return frame


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
