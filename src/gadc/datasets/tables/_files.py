"""Tables from files or frames, read lazily; every failure of the reader becomes a `TableError`.

Text files (CSV, TSV, also gzipped) are read as text and parsed here, so that a bad cell is known by row and
column; Parquet and Feather keep their types. Only the columns that are asked for are read.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import TEXT, Table, file_suffix, guarded

TableLike: TypeAlias = "str | os.PathLike[str] | pl.DataFrame | pl.LazyFrame | Any"

BINARY: dict[str, Callable[..., pl.LazyFrame]] = {
    ".parquet": pl.scan_parquet,
    ".feather": pl.scan_ipc,
    ".arrow": pl.scan_ipc,
    ".ipc": pl.scan_ipc,
}


def open_table(table: TableLike, role: str) -> Table:
    """A file or frame as a `Table`; `role` ("edges", "nodes") names a frame in messages."""
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
    """Refuse what is absent or a folder, before a reader words it its own way."""
    if not path.is_file():
        raise TableError("is a folder, not a file." if path.is_dir() else "no such file.", file=str(path))
    if path.stat().st_size == 0:
        raise TableError("is empty.", file=str(path))


def _open_file(path: Path) -> Table:
    name, suffix = str(path), file_suffix(path)
    if suffix not in {**TEXT, **BINARY}:
        known = ", ".join([*TEXT, *(f"{end}.gz" for end in TEXT), *BINARY])
        raise TableError(f"its suffix must be one of {known}.", file=name)
    require_file(path)
    with guarded(name):
        if suffix in BINARY:
            frame = BINARY[suffix](name, glob=False)
            return Table(name=name, frame=frame, schema=dict(frame.collect_schema()))
        frame = _scan_text(path, TEXT[suffix])
        return Table(name=name, frame=frame, schema=dict(frame.collect_schema()), text=True, first_row=2)


def _scan_text(path: Path, separator: str) -> pl.LazyFrame:
    if path.name.lower().endswith(".gz"):
        return pl.read_csv(gzip.decompress(path.read_bytes()), separator=separator, infer_schema=False).lazy()
    return pl.scan_csv(path, separator=separator, infer_schema=False, glob=False)


def _from_pandas(table: Any, role: str) -> pl.DataFrame:
    try:
        return pl.from_pandas(table)
    except ImportError as error:
        raise TableError(f"a pandas frame needs pyarrow to be converted ({error}).", file=role) from error
