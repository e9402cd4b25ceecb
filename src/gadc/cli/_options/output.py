"""Options for what a command writes and prints."""

from pathlib import Path
from typing import Annotated

import typer

from gadc._base.extras import require

TABLE_SUFFIXES = (".parquet", ".csv", ".feather")
REPORT_SUFFIXES = (".html", ".htm")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
TableOut = Annotated[Path, typer.Option("-o", "--out", help="Table to write (.parquet, .csv or .feather).")]
ReportFile = Annotated[
    Path | None, typer.Option("--report", help="HTML report to write, one file with tables and plots.")
]


def check_table_path(path: Path) -> None:
    """Refuse, before the work is done, a table that cannot be written."""
    if path.suffix.lower() not in TABLE_SUFFIXES:
        raise ValueError(f"--out must end in one of {', '.join(TABLE_SUFFIXES)}, got {str(path)!r}.")
    check_folder(path)


def check_report(path: Path | None, option: str = "--report", *, make_folder: bool = False) -> None:
    """Refuse, before the work is done, a report that cannot be written."""
    if path is None:
        return
    if path.suffix.lower() not in REPORT_SUFFIXES:
        raise ValueError(f"{option} must end in {' or '.join(REPORT_SUFFIXES)}, got {str(path)!r}.")
    if make_folder:
        path.parent.mkdir(parents=True, exist_ok=True)
    check_folder(path, option)
    for package in ("matplotlib", "jinja2"):
        require(package, "report")


def check_folder(path: Path, option: str = "--out") -> None:
    """Refuse a file in a folder that does not exist."""
    if not path.parent.is_dir():
        raise ValueError(f"{option} must be in an existing folder, got {str(path)!r}.")
