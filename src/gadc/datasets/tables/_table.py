"""One table that is read lazily, and errors that name file, row and column as its user does."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import polars as pl

from gadc.datasets.tables._dialect import Dialect, open_text
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._values import parse_numbers

_ROW = "row"  # the columns of a query are renamed to short internal names, so this one cannot collide


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table that is read lazily.

    Args:
        name: File name, or "edges" / "nodes" for a data frame.
        frame: The rows.
        schema: Column names and types.
        text: Whether the cells are unparsed text; False by default.
        first_row: Number of the first row of data as the user counts rows; 1 by default.
        dialect: How the cells of a text file are written; None by default.
        keep: Condition of the rows that are read; by default all are.
    """

    name: str
    frame: pl.LazyFrame
    schema: dict[str, pl.DataType]
    text: bool = False
    first_row: int = 1
    dialect: Dialect | None = None
    keep: pl.Expr | None = None

    @property
    def decimal(self) -> str | None:
        """Decimal mark of the numbers in a text file; None if it is not known."""
        return None if self.dialect is None else self.dialect.decimal

    @property
    def notes(self) -> list[str]:
        """How the file is written, if it is not as its suffix promises."""
        note = None if self.dialect is None else self.dialect.describe(self.name)
        return [] if note is None else [note]

    def require(self, *names: str | None) -> None:
        """Refuse the name of a column that does not exist; None is allowed."""
        for name in names:
            if name is not None and name not in self.schema:
                columns = ", ".join(map(repr, self.schema))
                raise TableError(f"no such column; the columns are {columns}.", file=self.name, column=name)

    def col(self, name: str) -> pl.Expr:
        """Return the expression of a column; empty and blank cells of text are null."""
        self.require(name)
        cell = pl.nth(list(self.schema).index(name))  # pl.col would read "*" and "^a$" as patterns
        if self.text:
            cell = cell.str.strip_chars()
            cell = pl.when(cell != "").then(cell)
        elif self.schema[name] in (pl.Categorical, pl.Enum):
            cell = cell.cast(pl.String)
        return cell

    def numbers(self, name: str) -> pl.Expr:
        """Return the expression of a column as float64; a cell that is not a number is null."""
        cell = self.col(name)
        return parse_numbers(cell, self.decimal) if self.text else cell.cast(pl.Float64, strict=False)

    def select(self, **columns: pl.Expr) -> pl.LazyFrame:
        """Select columns under new names, without the blank lines of a text file."""
        frame = self.frame
        if self.text:
            frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        frame = frame if self.keep is None else frame.filter(self.keep)
        return frame.select(**columns)

    def numbered(self, **columns: pl.Expr) -> pl.LazyFrame:
        """Select columns as `select` does, and add the user's row number as the column "row"."""
        number = pl.int_range(self.first_row, self.first_row + pl.len(), dtype=pl.Int64)
        frame = self.frame.with_columns(number.alias("\0row"))  # last, so that positions of columns stay
        if self.text:
            frame = frame.filter(~pl.all_horizontal(pl.exclude("\0row").is_null()))
        frame = frame if self.keep is None else frame.filter(self.keep)
        return frame.select(pl.col("\0row").alias(_ROW), **columns)

    def without(self, rows: Sequence[int]) -> Table:
        """Return the table without some rows, which are named as the user counts them."""
        if not rows:
            return self
        numbered = self.frame.with_row_index("\0row", offset=self.first_row)
        return replace(self, frame=numbered.filter(~pl.col("\0row").is_in(list(rows))).drop("\0row"))

    def collect(self, query: pl.LazyFrame) -> pl.DataFrame:
        """Run a query on this table with the streaming engine."""
        with guarded(self.name, self.dialect):
            return query.collect(engine="streaming")


@contextmanager
def guarded(name: str, dialect: Dialect | None = None) -> Iterator[None]:
    """Turn every failure of a reader into a `TableError` that names the file and keeps the cause."""
    try:
        yield
    except (TableError, MemoryError, ImportError):
        raise
    # A panic of Polars is not an Exception, but for the user it is a bad file like any other.
    except (Exception, pl.exceptions.PanicException) as error:
        if dialect is not None and "more fields than defined" in str(error):
            raise _ragged(name, dialect) from error
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise TableError(f"cannot be read ({first}).", file=name) from error


def _ragged(name: str, dialect: Dialect) -> TableError:
    """Find the row with too many cells, which the reader does not name."""
    with open_text(name, dialect.encoding) as lines:
        rows = csv.reader(lines, delimiter=dialect.separator, quotechar=dialect.quote)
        width = len(next(rows))
        for number, row in enumerate(rows, start=2):
            if len(row) > width:
                message = f"the row has {len(row)} cells, but the header has {width}."
                return TableError(message, file=name, row=number)
    return TableError("a row has more cells than the header.", file=name)
