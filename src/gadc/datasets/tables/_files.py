"""Tables from files or frames, read lazily; every failure of the reader becomes a `TableError`.

Text files (CSV, TSV, also gzipped) are read as text and parsed here, so that a bad cell is known by row and
column; Parquet and Feather keep their types. Only the columns that are asked for are read.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from gadc.datasets.tables._report import TableError

TableLike: TypeAlias = "str | os.PathLike[str] | pl.DataFrame | pl.LazyFrame | Any"

TEXT = {".csv": ",", ".tsv": "\t"}
BINARY: dict[str, Callable[..., pl.LazyFrame]] = {
    ".parquet": pl.scan_parquet,
    ".feather": pl.scan_ipc,
    ".arrow": pl.scan_ipc,
    ".ipc": pl.scan_ipc,
}
_ROW = "row"  # the columns of a query are renamed to short internal names, so this one cannot collide


@dataclass(frozen=True, kw_only=True)
class Table:
    """A lazily read table that knows how its user names and counts things.

    Args:
        name: File name, or "edges" / "nodes" for a frame.
        frame: The rows.
        schema: Column names and types.
        text: Whether the cells are unparsed text.
        first_row: Number of the first row of data as the user counts.
    """

    name: str
    frame: pl.LazyFrame
    schema: dict[str, pl.DataType]
    text: bool = False
    first_row: int = 1

    def require(self, *names: str | None) -> None:
        """Refuse a column that is not there."""
        for name in names:
            if name is not None and name not in self.schema:
                there = ", ".join(map(repr, self.schema))
                raise TableError(f"no such column; there are {there}.", file=self.name, column=name)

    def col(self, name: str) -> pl.Expr:
        """A column by its name; empty and blank cells of text are null."""
        self.require(name)
        cell = pl.nth(list(self.schema).index(name))  # pl.col would read "*" and "^a$" as patterns
        if self.text:
            cell = cell.str.strip_chars()
            cell = pl.when(cell != "").then(cell)
        elif self.schema[name] in (pl.Categorical, pl.Enum):
            cell = cell.cast(pl.String)
        return cell

    def select(self, **columns: pl.Expr) -> pl.LazyFrame:
        """The columns under new names, blank lines of text left out."""
        frame = self.frame
        if self.text:
            frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        return frame.select(**columns)

    def numbered(self, **columns: pl.Expr) -> pl.LazyFrame:
        """As `select`, with the user's row number in the column "row"."""
        number = pl.int_range(self.first_row, self.first_row + pl.len(), dtype=pl.Int64)
        frame = self.frame.with_columns(number.alias("\0row"))  # last, so that positions of columns stay
        if self.text:
            frame = frame.filter(~pl.all_horizontal(pl.exclude("\0row").is_null()))
        return frame.select(pl.col("\0row").alias(_ROW), **columns)

    def collect(self, query: pl.LazyFrame) -> pl.DataFrame:
        """Run a query on this table, out of core where the engine can."""
        with guarded(self.name):
            return query.collect(engine="streaming")


@contextmanager
def guarded(name: str) -> Iterator[None]:
    """Turn every failure of a reader into a `TableError` that names the file and keeps the cause."""
    try:
        yield
    except (TableError, MemoryError):
        raise
    # A panic of Polars is no Exception, yet for the user it is a bad file like any other.
    except (Exception, pl.exceptions.PanicException) as error:
        if "more fields than defined" in str(error):
            raise _ragged(name) from error
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise TableError(f"cannot be read ({first}).", file=name) from error


def _ragged(name: str) -> TableError:
    """Find the row with too many cells; the reader does not say which it was."""
    with open_text(name) as lines:
        rows = csv.reader(lines, delimiter=TEXT[_suffix(Path(name))])
        width = len(next(rows))
        for number, row in enumerate(rows, start=2):
            if len(row) > width:
                return TableError(f"has {len(row)} cells, the header {width}.", file=name, row=number)
    return TableError("a row has more cells than the header.", file=name)


def open_text(path: str | os.PathLike[str]) -> io.TextIOBase:
    """Open a text file, gzipped or not."""
    if str(path).lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return open(path, encoding="utf-8", newline="")


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
    name, suffix = str(path), _suffix(path)
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


def _suffix(path: Path) -> str:
    """The last suffix in lower case, that of the packed file for text.csv.gz."""
    path = Path(path.name.lower())
    inner = Path(path.stem).suffix
    return inner if path.suffix == ".gz" and inner in TEXT else path.suffix


def _from_pandas(table: Any, role: str) -> pl.DataFrame:
    try:
        return pl.from_pandas(table)
    except ImportError as error:
        raise TableError(f"a pandas frame needs pyarrow to be converted ({error}).", file=role) from error


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path` (same suffix) that takes its place when all went well."""
    path = Path(path)
    temporary = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
