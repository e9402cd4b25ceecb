"""Tables from files or data frames, read lazily; every failure of a reader becomes a `TableError`.

Text files (CSV and TSV, gzipped or not) are read as text and parsed here, so that an error can name the row
and the column of a bad cell. Parquet and Feather keep their types. Only the columns that are needed are read.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from gadc._base.memory import check_memory
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import TEXT, Table, file_suffix, guarded

TableLike: TypeAlias = "str | os.PathLike[str] | pl.DataFrame | pl.LazyFrame | Any"

BINARY: dict[str, Callable[..., pl.LazyFrame]] = {
    ".parquet": pl.scan_parquet,
    ".feather": pl.scan_ipc,
    ".arrow": pl.scan_ipc,
    ".ipc": pl.scan_ipc,
}


_BYTES_PER_ROW = 24  # two ends or an id and a row number, and a key to sort by, at least
_PART = 2**26


def open_table(table: TableLike, role: str) -> Table:
    """Open a file or a data frame.

    Args:
        table: A path, a Polars or pandas frame, or a `Table`, which is returned as it is.
        role: "edges" or "nodes"; the name of a data frame in messages.
    """
    if isinstance(table, Table):
        return table
    if isinstance(table, (str, os.PathLike)):
        return _open_file(Path(table))
    if type(table).__module__.partition(".")[0] == "pandas":
        with guarded(role):
            table = _from_pandas(table, role)
    if isinstance(table, pl.DataFrame):
        table = table.lazy()
    if not isinstance(table, pl.LazyFrame):
        raise TypeError(f"from_tables: {role} must be a path or a data frame, got {type(table).__name__}.")
    with guarded(role):
        return Table(name=role, frame=table, schema=dict(table.collect_schema()))


def require_file(path: Path) -> None:
    """Refuse a path that is missing, a folder or an empty file."""
    if not path.is_file():
        message = "this is a folder, not a file." if path.is_dir() else "no such file."
        raise TableError(message, file=str(path))
    if path.stat().st_size == 0:
        raise TableError("the file is empty.", file=str(path))


def require_suffix(path: Path, known: list[str]) -> None:
    """Refuse a file whose kind is not known by its suffix."""
    if file_suffix(path) not in known:
        message = f"the suffix must be one of {', '.join(known)}, got {path.suffix!r}."
        raise TableError(message, file=str(path))


def _open_file(path: Path) -> Table:
    require_suffix(path, [*TEXT, *(f"{end}.gz" for end in TEXT), *BINARY])
    require_file(path)
    name, suffix = str(path), file_suffix(path)
    with guarded(name):
        if suffix in BINARY:
            frame = BINARY[suffix](name, glob=False)
            schema, rows = dict(frame.collect_schema()), frame.select(pl.len()).collect().item()
            # A tiny file can hold any number of equal rows.
            check_memory(name, _BYTES_PER_ROW * rows, f"a table of {rows:,} rows")
            return Table(name=name, frame=frame, schema=schema)
        frame = scan_text(path)
        return Table(name=name, frame=frame, schema=dict(frame.collect_schema()), text=True, first_row=2)


def scan_text(path: Path) -> pl.LazyFrame:
    """Read a CSV or TSV file, gzipped or not, as text; only a gzipped one is read into memory."""
    separator = TEXT[file_suffix(path)]
    if path.name.lower().endswith(".gz"):
        return _single_quotes(pl.read_csv(_unpacked(path), separator=separator, infer_schema=False).lazy())
    return _single_quotes(pl.scan_csv(path, separator=separator, infer_schema=False, glob=False))


def _single_quotes(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Undo the doubled quotes of quoted headers, which Polars undoes in cells only."""
    doubled = [name for name in frame.collect_schema().names() if '""' in name]
    return frame.rename({name: name.replace('""', '"') for name in doubled}) if doubled else frame


def _unpacked(path: Path) -> bytes:
    """Unpack a file part by part, so that one that has no end is noticed before memory runs out."""
    parts: list[bytes] = []
    size = 0
    with gzip.open(path) as file:
        while part := file.read(_PART):
            parts.append(part)
            size += len(part)
            check_memory(str(path), 2 * size, "the unpacked table")
    return b"".join(parts)


def _from_pandas(table: Any, role: str) -> pl.DataFrame:
    try:
        return pl.from_pandas(table)
    except ImportError as error:
        raise TableError(f"converting a pandas frame needs pyarrow ({error}).", file=role) from error
