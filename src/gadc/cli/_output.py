"""What commands print and write: facts and JSON, tables that appear whole or not at all, progress."""

import json
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from gadc._base.files import replacing

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".parquet", ".csv", ".feather")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TableOut = Annotated[Path, typer.Option("-o", "--out", help="Table to write: .parquet, .csv or .feather.")]


def print_json(value: Any) -> None:
    """JSON on standard output; what is no number becomes null."""
    typer.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False))


def print_facts(title: str, facts: dict[str, Any]) -> None:
    """Facts as a table of two columns."""
    table = Table(show_header=False, box=None)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in facts.items():
        if value not in (None, []):
            table.add_row(key.replace("_", " "), escape(text(value)))
    _print_titled(title, table)


def print_rows(title: str, rows: list[dict[str, Any]]) -> None:
    """Records as a table, numbers to the right."""
    table = Table(box=None)
    for key, value in rows[0].items() if rows else ():
        side: Any = "left" if isinstance(value, str) else "right"
        table.add_column(escape(key.replace("_", " ")), justify=side)
    for row in rows:
        table.add_row(*(escape(text(value)) for value in row.values()))
    _print_titled(title, table)


def _print_titled(title: str, table: Table) -> None:
    console = Console()
    console.print(title, style="bold", markup=False, highlight=False, soft_wrap=True)
    console.print(table)
    console.print()


def text(value: Any) -> str:
    """A value for a reader: thousands separated, lists joined, nothing for None."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {text(item)}" for key, item in value.items() if item is not None)
    if isinstance(value, list):
        texts = [text(item) for item in value]
        return ("\n" if any(len(item) > 20 for item in texts) else ", ").join(texts)
    return "" if value is None else str(value)


def say(message: str) -> None:
    """A line for people on standard error, so that standard output stays clean."""
    typer.echo(message, err=True)


@contextmanager
def working(what: str, *, spinner: bool = True) -> Iterator[None]:
    """Show that something is going on, then what warned meanwhile, one line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with Console(stderr=True).status(f"{what} ...") if spinner else nullcontext():
            yield
    shown = [item for item in caught if issubclass(item.category, UserWarning | RuntimeWarning)]
    for message in dict.fromkeys(str(item.message) for item in shown):
        say(f"warning: {message}")


@contextmanager
def counting(total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar; the function it gives is told what begins, and counts what came before as done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("starting", total=total)
        begun = False

        def tell(what: str) -> None:
            nonlocal begun
            progress.update(bar, advance=int(begun), description=what)
            begun = True

        yield tell
        progress.update(bar, completed=total, description="done")


def check_table_path(path: Path) -> None:
    """Refuse a table that could not be written before the work is done."""
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"--out must end in one of {', '.join(SUFFIXES)}, got {str(path)!r}.")
    check_folder(path)


def check_folder(path: Path, option: str = "--out") -> None:
    """Refuse a file in a folder that does not exist."""
    if not path.parent.is_dir():
        raise ValueError(f"{option} must lie in an existing folder, got {str(path)!r}.")


def write_table(frame: "pl.DataFrame", path: Path) -> None:
    """Write a table by its suffix; the file appears whole or not at all."""
    write: dict[str, Any] = {
        ".parquet": frame.write_parquet,
        ".csv": frame.write_csv,
        ".feather": frame.write_ipc,
    }
    with replacing(path) as temporary:
        write[path.suffix.lower()](temporary)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
