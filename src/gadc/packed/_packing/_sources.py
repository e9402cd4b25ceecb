"""Files of the user as tables that are read by columns and by ranges of rows.

Parquet and Feather are read where they are. CSV and TSV are converted to Parquet once, still as text, so that
errors can name the row and the column of a bad cell.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from gadc._base.tasks import write_whole
from gadc.datasets.tables._dialect import CsvOptions, Dialect, file_suffix, open_text, read_dialect
from gadc.datasets.tables._files import (
    BINARY,
    JSON_LINES,
    SUFFIXES,
    TableLike,
    open_table,
    require_file,
    require_suffix,
    scan_text,
)
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table, guarded
from gadc.datasets.tables._workbooks import SUFFIX as EXCEL
from gadc.datasets.tables._workbooks import split_sheet

_FULL = re.compile(r"os error (27|28|122)|No space left|File too large")


@dataclass(frozen=True, kw_only=True)
class Source:
    """One file of a table.

    Args:
        name: Name of the file as the user knows it.
        file: File that the rows are read from, Parquet or Feather.
        text: Whether the cells are unparsed text.
        first_row: Number of the first row of data as the user counts rows.
        dialect: How a text file is written; None by default, another file.
    """

    name: str
    file: str
    text: bool
    first_row: int
    dialect: Dialect | None = None

    @property
    def encoding(self) -> str:
        """Encoding of a text file."""
        return "utf-8" if self.dialect is None else self.dialect.encoding

    def scan(self) -> pl.LazyFrame:
        """Return the rows."""
        return BINARY[file_suffix(Path(self.file))](self.file, glob=False)

    def num_rows(self) -> int:
        """Count the rows, blank lines of a text file included."""
        with guarded(self.name):
            return int(self.scan().select(pl.len()).collect().item())

    def count_columns(self) -> int:
        """Count the columns of a text file by its first line."""
        with guarded(self.name), open_text(Path(self.name), self.encoding) as file:
            separator = "," if self.dialect is None else self.dialect.separator
            return len(next(csv.reader(file, delimiter=separator), []))

    def open(self, start: int = 0, length: int | None = None) -> Table:
        """Open the table, or a range of its rows."""
        with guarded(self.name):
            frame = self.scan()
            return Table(
                name=self.name,
                frame=frame if length is None else frame.slice(start, length),
                schema=dict(frame.collect_schema()),
                text=self.text,
                first_row=self.first_row + start,
                dialect=self.dialect,
            )


def make_sources(
    tables: TableLike | Sequence[TableLike], role: str, folder: Path, csv_options: CsvOptions | None = None
) -> list[Source]:
    """Describe the files of a table; data frames are written to `folder`.

    Args:
        tables: One or more paths or data frames.
        role: "edges" or "nodes".
        folder: Folder for converted tables.
        csv_options: How text files are written; found from their beginning by default.
    """
    listed = list(tables) if isinstance(tables, list | tuple) else [tables]
    if not listed:
        raise ValueError(f"pack: {role} must name at least one table, got none.")
    sources = [_source(table, role, folder, i, csv_options) for i, table in enumerate(listed)]
    if len({source.text for source in sources}) > 1:
        raise TableError(f"all files of the {role} must be text, or none.", file=sources[0].name)
    return _with_one_decimal(sources)


def _with_one_decimal(sources: list[Source]) -> list[Source]:
    """Read all files of a table with the decimal mark that some of them show."""
    known = {one.dialect.decimal for one in sources if one.dialect is not None} - {None}
    if len(known) > 1:
        raise TableError(
            'the files must have the same decimal mark, got "." and ","; convert some of them.',
            file=sources[0].name,
        )
    return [
        replace(one, dialect=replace(one.dialect, decimal=mark)) if one.dialect is not None else one
        for one in sources
        for mark in [next(iter(known), None)]
    ]


def _source(table: TableLike, role: str, folder: Path, number: int, csv_options: CsvOptions | None) -> Source:
    converted = str(folder / f"{role}-{number:04d}.parquet")
    if not isinstance(table, str | os.PathLike):
        opened = open_table(table, role)
        if not Path(converted).exists():
            with disk_errors(converted):
                write_whole(converted, lambda file: opened.frame.sink_parquet(file))
        return Source(name=role, file=converted, text=False, first_row=1)
    path = Path(table)
    book, _ = split_sheet(path)
    require_suffix(book, list(SUFFIXES))
    require_file(book)
    if file_suffix(book) == EXCEL or file_suffix(path) in JSON_LINES:
        opened = open_table(path, role)
        if not Path(converted).exists():
            with disk_errors(converted):
                write_whole(converted, lambda file: opened.frame.sink_parquet(file))
        return Source(name=str(path), file=converted, text=False, first_row=opened.first_row)
    if file_suffix(path) in BINARY:
        return Source(name=str(path), file=str(path.resolve()), text=False, first_row=1)
    with guarded(str(path)):
        dialect = read_dialect(path, csv_options)
    return Source(name=str(path), file=converted, text=True, first_row=2, dialect=dialect)


def convert(source: Source, rows_at_once: int) -> None:
    """Convert a text file to Parquet, still as text; one that is packed or not in UTF-8 is copied before."""
    path, dialect = Path(source.name), source.dialect or Dialect()
    unpacked = Path(source.file).with_suffix(file_suffix(path))
    copied = path.name.lower().endswith(".gz") or not dialect.is_utf8

    def write(file: Path) -> None:
        frame = scan_text(unpacked if copied else path, replace(dialect, encoding="utf-8"))
        frame.sink_parquet(file, compression="lz4", row_group_size=rows_at_once)

    with disk_errors(source.file), guarded(source.name, dialect):
        try:
            if copied:
                unpacked.parent.mkdir(parents=True, exist_ok=True)
                with (
                    open_text(path, dialect.encoding) as packed,
                    unpacked.open("w", encoding="utf-8", newline="") as plain,
                ):
                    shutil.copyfileobj(packed, plain, 2**22)
            write_whole(source.file, write)
        finally:
            unpacked.unlink(missing_ok=True)


@contextmanager
def disk_errors(file: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file that does not fit on the disk, which Polars does not."""
    try:
        yield
    except Exception as error:
        if _FULL.search(str(error)):
            raise OSError(f"pack: {file} cannot be written: {error}.") from error
        raise


def joined(sources: Sequence[Source]) -> Table:
    """Open several files as one table, one after the other, with the columns of the first."""
    tables = [source.open() for source in sources]
    first = tables[0]
    if len(tables) == 1:
        return first
    for table in tables[1:]:
        table.require(*first.schema)
    with guarded(first.name):
        frame = pl.concat(
            [table.frame.select(list(first.schema)) for table in tables], how="vertical_relaxed"
        )
        return replace(first, name=name_of(sources), frame=frame, schema=dict(frame.collect_schema()))


def name_of(sources: Sequence[Source]) -> str:
    """Name a table of one or more files."""
    more = len(sources) - 1
    return sources[0].name + (f" and {more} more file{'s' if more > 1 else ''}" if more else "")


@contextmanager
def located(sources: Sequence[Source]) -> Iterator[None]:
    """Name the file, and the row in it, in errors of a table that several files make up."""
    try:
        yield
    except TableError as error:
        if error.row is None or len(sources) == 1:
            raise
        row = error.row - sources[0].first_row
        for source in sources:
            if row < (size := source.num_rows()):
                break
            row -= size
        row += source.first_row
        raise TableError(error.message, file=source.name, row=row, column=error.column) from error.__cause__
