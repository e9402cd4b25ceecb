"""Options for what a command writes and prints."""

from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

import typer

from gadc._base.extras import require

TABLE_SUFFIXES = (".parquet", ".csv", ".feather")
REPORT_SUFFIXES = (".html", ".htm")

Positive = Annotated[
    str | None,
    typer.Option("--positive", help="Class that is looked for. Default: the rarer of two classes."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
TableOut = Annotated[
    Path, typer.Option("-o", "--out", help="Table to write (.parquet, .csv or .feather; - prints CSV).")
]
TableOrFolderOut = Annotated[
    Path,
    typer.Option(
        "-o",
        "--out",
        help="Table to write (.parquet, .csv or .feather; - prints CSV); of a packed graph also a folder of "
        "Parquet files.",
    ),
]
EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        help="Put an apostrophe in front of text that a spreadsheet program would run as a formula (.csv).",
    ),
]
ReportFile = Annotated[
    Path | None, typer.Option("--report", help="HTML report to write, one file with tables and plots.")
]
SummaryFile = Annotated[
    Path | None,
    typer.Option(
        "--summary",
        help="HTML page to write in plain words, for readers who do not know the method: the entries and "
        "connections to look at first, and how good the model is.",
    ),
]


def check_table_path(path: Path | None, *, escape_formulas: bool = False) -> None:
    """Refuse, before the work is done, a table that cannot be written, or formulas where none can be."""
    if path is not None and str(path) == "-":  # standard output, as CSV
        return
    if escape_formulas and (path is None or path.suffix.lower() != ".csv"):
        raise ValueError(
            f"--escape-formulas requires --out FILE.csv, got {None if path is None else str(path)!r}."
        )
    if path is None:
        return
    if path.suffix.lower() not in TABLE_SUFFIXES:
        raise ValueError(f"--out must end in one of {', '.join(TABLE_SUFFIXES)}, got {str(path)!r}.")
    check_file(path)


def refuse_pipe(path: Path | None) -> None:
    """Refuse standard output for a packed graph, whose results may be larger than memory."""
    if path is not None and str(path) == "-":
        raise ValueError("--out - (standard output) requires a graph in memory; name a file or a folder.")


def check_report(path: Path | None, option: str = "--report", *, make_folder: bool = False) -> None:
    """Refuse, before the work is done, a report that cannot be written."""
    if path is None:
        return
    if path.suffix.lower() not in REPORT_SUFFIXES:
        raise ValueError(f"{option} must end in {' or '.join(REPORT_SUFFIXES)}, got {str(path)!r}.")
    if make_folder:
        check_folder(path.parent, option)
        path.parent.mkdir(parents=True, exist_ok=True)
    check_file(path, option)
    for package in ("matplotlib", "jinja2"):
        require(package, "report")


def check_file(path: Path, option: str = "--out") -> None:
    """Refuse, before the work is done, a file that cannot be written."""
    if not path.parent.is_dir():
        raise ValueError(f"{option} must be in an existing folder, got {str(path)!r}.")
    if path.is_dir():
        raise ValueError(f"{option} must be a file, got the folder {str(path)!r}.")
    _check_writable(path.parent, option)


def check_folder(path: Path, option: str = "--out") -> None:
    """Refuse, before the work is done, a folder that cannot be made or written to."""
    existing = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
    if not existing.is_dir():
        raise ValueError(f"{option} must be a folder, got {str(path)!r}, where {str(existing)!r} is a file.")
    _check_writable(existing, option)


def _check_writable(folder: Path, option: str) -> None:
    """Create a temporary file: permissions alone do not tell of a read-only or full disk."""
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or error
        raise ValueError(
            f"{option} must be in a folder that can be written to: {folder}: {reason}."
        ) from error
