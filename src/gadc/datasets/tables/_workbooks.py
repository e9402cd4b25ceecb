"""Sheets of Excel workbooks as tables: `book.xlsx` is the first sheet, `book.xlsx#edges` a sheet by name."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from gadc._base.extras import require
from gadc._base.memory import check_memory
from gadc.datasets.tables._report import TableError

SUFFIX = ".xlsx"
_UNPACKED = 30  # bytes in memory per byte of a workbook, about


def split_sheet(path: Path) -> tuple[Path, str | None]:
    """Return the file and the sheet that a path names."""
    name, mark, sheet = path.name.partition("#")
    if mark and name.lower().endswith(SUFFIX) and not path.exists():
        return path.with_name(name), sheet
    return path, None


def read_sheet(path: Path, sheet: str | None) -> pl.DataFrame:
    """Read a sheet, whose first row names the columns."""
    reader = require("fastexcel", "excel")
    check_memory(str(path), _UNPACKED * path.stat().st_size, "the workbook")
    names = reader.read_excel(str(path)).sheet_names
    if sheet is not None and sheet not in names:
        raise TableError(
            f"the sheet must be one of {', '.join(map(repr, names))}, got {sheet!r}.", file=str(path)
        )
    return pl.read_excel(path, sheet_name=names[0] if sheet is None else sheet, engine="calamine")
