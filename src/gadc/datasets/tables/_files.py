"""Tables from files or data frames, read lazily; every failure of a reader becomes a `TableError`.

Text files (CSV and TSV, gzipped or not) are read as text and parsed here, so that an error can name the row
and the column of a bad cell; `_dialect` finds how they are written.
Parquet, Feather, JSON lines and Excel sheets keep their types. Only the columns that are needed are read.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from gadc._base.memory import check_memory
from gadc.datasets.tables._dialect import TEXT, CsvOptions, Dialect, file_suffix, read_dialect
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table, guarded
from gadc.datasets.tables._workbooks import SUFFIX, read_sheet, split_sheet

TableLike: TypeAlias = "str | os.PathLike[str] | pl.DataFrame | pl.LazyFrame | Any"

BINARY: dict[str, Callable[..., pl.LazyFrame]] = {
    ".parquet": pl.scan_parquet,
    ".feather": pl.scan_ipc,
    ".arrow": pl.scan_ipc,
    ".ipc": pl.scan_ipc,
}
JSON_LINES = (".jsonl", ".ndjson")
SUFFIXES = (*TEXT, *(f"{end}.gz" for end in TEXT), *BINARY, *JSON_LINES, SUFFIX)


_BYTES_PER_ROW = 24  # two ends or an id and a row number, and a key to sort by, at least
_PART = 2**26


def open_table(table: TableLike, role: str, csv_options: CsvOptions | None = None) -> Table:
    """Open a file or a data frame.

    Args:
        table: A path, a Polars or pandas frame, anything with `__arrow_c_stream__` (pyarrow, DuckDB), or
            a `Table`, which is returned as it is.
        role: "edges" or "nodes"; the name of a data frame in messages.
        csv_options: How text files are written. Default: found from their beginning.
    """
    if isinstance(table, Table):
        return table
    if isinstance(table, (str, os.PathLike)):
        return _open_file(Path(table), csv_options)
    if type(table).__module__.partition(".")[0] == "pandas":
        with guarded(role):
            table = _from_pandas(table, role)
    if not isinstance(table, pl.DataFrame | pl.LazyFrame) and hasattr(table, "__arrow_c_stream__"):
        with guarded(role):
            table = pl.DataFrame(table)
    if isinstance(table, pl.DataFrame):
        table = table.lazy()
    if not isinstance(table, pl.LazyFrame):
        raise TypeError(
            f"from_tables: {role} must be a path or a data frame, or export an Arrow stream, "
            f"got {type(table).__name__}."
        )
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


def _open_file(path: Path, csv_options: CsvOptions | None) -> Table:
    book, sheet = split_sheet(path)
    require_suffix(book, list(SUFFIXES))
    require_file(book)
    name, suffix = str(path), file_suffix(book)
    with guarded(name):
        if suffix == SUFFIX:
            rows = read_sheet(book, sheet)
            return Table(name=name, frame=rows.lazy(), schema=dict(rows.schema), first_row=2)
        if suffix in JSON_LINES:
            frame = pl.scan_ndjson(path)
            return Table(name=name, frame=frame, schema=dict(frame.collect_schema()))
        if suffix in BINARY:
            frame = BINARY[suffix](name, glob=False)
            schema, count = dict(frame.collect_schema()), frame.select(pl.len()).collect().item()
            # A tiny file can hold any number of equal rows.
            check_memory(name, _BYTES_PER_ROW * count, f"a table of {count:,} rows")
            return Table(name=name, frame=frame, schema=schema)
        dialect = read_dialect(path, csv_options)
        frame = scan_text(path, dialect)
        schema = dict(frame.collect_schema())
        return Table(name=name, frame=frame, schema=schema, text=True, first_row=2, dialect=dialect)


def scan_text(path: Path, dialect: Dialect) -> pl.LazyFrame:
    """Read a CSV or TSV file as text; one that is gzipped or not in UTF-8 is read into memory."""
    how: dict[str, Any] = {"separator": dialect.separator, "quote_char": dialect.quote, "infer_schema": False}
    packed = path.name.lower().endswith(".gz")
    if not packed and dialect.is_utf8:
        return _single_quotes(pl.scan_csv(path, glob=False, **how))
    content = _unpacked(path) if packed else _whole(path)
    if not dialect.is_utf8:
        content = content.decode(dialect.encoding).removeprefix("\ufeff").encode()
    return _single_quotes(pl.read_csv(content, **how).lazy())


def _single_quotes(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Undo the doubled quotes of quoted headers, which Polars undoes in cells only."""
    doubled = [name for name in frame.collect_schema().names() if '""' in name]
    return frame.rename({name: name.replace('""', '"') for name in doubled}) if doubled else frame


def _whole(path: Path) -> bytes:
    """Read a file that has to be converted; it is in memory about four times then."""
    check_memory(str(path), 4 * path.stat().st_size, "a table that is not in UTF-8")
    return path.read_bytes()


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
