"""Times of edges: which edges are read, and how much an old one counts.

    w(t) = w · 2^(-(T - t) / half-life)

T is `until`, or the latest time of the table. An edge that is later than T is left out: it may not have been
known, or may have been drawn because of the label, when the label of its end was decided.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

import polars as pl

from gadc.datasets.tables._columns import EdgeColumns
from gadc.datasets.tables._dates import AMBIGUOUS, date_cell, find_format, is_temporal
from gadc.datasets.tables._problems import Problems
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table
from gadc.datasets.tables._values import parse_numbers

Moment: TypeAlias = "str | float | dt.date"  # a `datetime` is a `date`

_DAY = 86400.0
_UNITS = {"s": 1 / _DAY, "min": 60 / _DAY, "h": 1 / 24, "d": 1.0, "w": 7.0, "y": 365.25}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|h|d|w|y)?")
_OLDEST = 100.0  # half-lives after which nothing is left of a weight in 32 bits


@dataclass(frozen=True, kw_only=True)
class TimeWindow:
    """Which edges are read by their time, and how fast they fade.

    Args:
        until: Latest time that is read, a date as text or a number. Default: None, all are read.
        half_life: Time after which an edge counts half, such as "30d" or a number. Default: None, no decay.
    """

    until: str | float | None = None
    half_life: str | float | None = None

    @classmethod
    def of(cls, owner: str, until: Moment | None, half_life: str | float | None) -> TimeWindow:
        """Return the window with plain values; a ValueError says what is wrong with them."""
        if isinstance(until, dt.date):
            until = str(until)
        if until is not None and not (isinstance(until, str) or _is_number(until)):
            raise ValueError(f"{owner}: until must be a date or a finite number, got {until!r}.")
        if half_life is not None and _span(half_life) is None:
            raise ValueError(
                f"{owner}: half_life must be a number > 0 or text such as '30d' (units "
                f"{', '.join(_UNITS)}), got {half_life!r}."
            )
        return cls(until=until, half_life=half_life)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TimeWindow:
        """Return the window that `to_dict` described; a ValueError says what is wrong with it."""
        if not isinstance(values, Mapping):
            raise ValueError(f"TimeWindow: values must be a mapping, got {str(values)[:60]!r}.")
        return cls.of("TimeWindow", values.get("until"), values.get("half_life"))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Clock:
    """How the cells of a column are read as times.

    Args:
        column: Name of the column.
        cell: Time of an edge as float64: days since 1970 for dates, or the number itself; null for no time.
        is_date: Whether the column holds dates.
    """

    column: str
    cell: pl.Expr
    is_date: bool

    def read_until(self, value: str | float) -> float:
        """Return T as a number; a date without a time of the day stands for the end of that day."""
        if not self.is_date:
            number = _number(value)
            if number is None:
                raise ValueError(
                    f"from_tables: until must be a number, since {self.column!r} holds numbers, "
                    f"got {value!r}."
                )
            return number
        text = pl.Series("t", [str(value).strip()])
        form = find_format(text)
        if form is None:
            raise ValueError(
                "from_tables: until must be a date as YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, since "
                f"{self.column!r} holds dates, got {value!r}."
            )
        day = text.to_frame().select(_days(date_cell(pl.col("t"), form))).item()
        return float(day) + (0.0 if ":" in text[0] else 1 - 1e-6 / _DAY)

    def read_half_life(self, value: str | float) -> float:
        """Return the half-life in days, or in the unit of the numbers."""
        number, unit = _span(value) or (math.nan, None)
        if self.is_date:
            return number * _UNITS[unit or "d"]
        if unit is not None:
            raise ValueError(
                "from_tables: half_life must be a number without a unit, since the times in "
                f"{self.column!r} are numbers, got {value!r}."
            )
        return number

    def show(self, time: float) -> str:
        """Write a time as the user does."""
        if not self.is_date:
            return f"{time:g}"
        moment = dt.datetime(1970, 1, 1) + dt.timedelta(days=time)
        return str(moment.replace(microsecond=0)).removesuffix(" 00:00:00").removesuffix(" 23:59:59")


@dataclass(frozen=True, kw_only=True)
class TimedEdges:
    """An edge table whose later edges are left out.

    Args:
        columns: The table and its columns, with the decay of the weights.
        later: Number of rows that were left out because they are later than `until`.
        unusable: Number of rows that were left out because they have no time.
        notes: Notes for the report.
    """

    columns: EdgeColumns
    later: int = 0
    unusable: int = 0
    notes: tuple[str, ...] = ()


def apply_times(edges: EdgeColumns, window: TimeWindow, problems: Problems) -> TimedEdges:
    """Leave out edges that are later than the window, and let older ones count less.

    Args:
        edges: The edge table; without a column of times it is returned as it is.
        window: Which edges are read.
        problems: Where cells that are not times are reported.
    """
    if edges.time is None:
        if window != TimeWindow():
            raise ValueError("from_tables: time must name a column if until or half_life is given, got None.")
        return TimedEdges(columns=edges)
    clock = find_clock(edges.table, edges.time)
    found = edges.table.collect(edges.table.numbered(t=clock.cell))
    if not len(found):
        return TimedEdges(columns=edges)
    good = found["t"].is_finite().fill_null(False)
    bad = len(found) - int(good.sum())
    if bad:
        _tell_bad(edges.table, edges.time, int(found["row"].filter(~good)[0]), bad, problems)
    times = found["t"].filter(good)
    keep, later, notes = clock.cell.is_finite().fill_null(False), 0, []
    if window.until is not None:
        latest = clock.read_until(window.until)
        later = int((times > latest).sum())
        _check_some_left(edges.table, clock, times, later, window.until)
        notes.append(f"{later:,} of {len(found):,} edges are later than {window.until} and were left out")
        keep, times = keep & (clock.cell <= latest), times.filter(times <= latest)
    decay = None
    if window.half_life is not None and len(times):
        end = float(times.max()) if window.until is None else latest  # type: ignore[arg-type]
        decay = _decay(clock, times, end, window.half_life)
        notes.append(
            f"weights were halved for every {window.half_life} before {clock.show(end)}; "
            f"the oldest edge is from {clock.show(float(times.min()))}"  # type: ignore[arg-type]
        )
    columns = replace(edges, table=replace(edges.table, keep=keep), decay=decay)
    return TimedEdges(columns=columns, later=later, unusable=bad, notes=tuple(notes))


def find_clock(table: Table, column: str) -> Clock:
    """Find how a column holds times: as numbers, as dates, or as text that is one of them."""
    cell, dtype = table.col(column), table.schema[column]
    if is_temporal(dtype):
        return Clock(column=column, cell=_days(cell.cast(pl.Datetime("us"))), is_date=True)
    if dtype.is_numeric():
        return Clock(column=column, cell=cell.cast(pl.Float64), is_date=False)
    if dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        raise TableError(f"times must be dates or numbers, got {dtype}.", file=table.name, column=column)
    filled = table.collect(table.select(t=cell.cast(pl.String)))["t"].drop_nulls()
    numbers = parse_numbers(cell.cast(pl.String), table.decimal)
    if not len(filled) or 2 * filled.to_frame().select(_numbers(filled, table)).sum().item() > len(filled):
        return Clock(column=column, cell=numbers, is_date=False)
    form = find_format(filled)
    if form is not None:
        return Clock(column=column, cell=_days(date_cell(cell.cast(pl.String), form)), is_date=True)
    rule = AMBIGUOUS if find_format(filled, either=True) else "a time must be a date or a number"
    raise TableError(f"{rule}, got {filled[0]!r}.", file=table.name, column=column)


def _numbers(filled: pl.Series, table: Table) -> pl.Expr:
    return parse_numbers(pl.col(filled.name), table.decimal).is_not_null()


def _days(moment: pl.Expr) -> pl.Expr:
    return moment.cast(pl.Int64) / (1e6 * _DAY)


def _tell_bad(table: Table, column: str, row: int, count: int, problems: Problems) -> None:
    """Report cells that are empty or not a time."""
    cells = table.numbered(raw=table.col(column)).filter(pl.col("row") == row)
    value = table.collect(cells)["raw"][0]
    what = "the time is empty" if value is None else f"a time must be a date or a number, got {value!r}"
    what += f" ({count:,} rows have no time)" if count > 1 else ""
    problem = TableError(f"{what}.", file=table.name, row=row, column=column)
    problems.settle("bad-times", f"{count:,} edges without a time were left out", problem)


def _check_some_left(table: Table, clock: Clock, times: pl.Series, later: int, until: str | float) -> None:
    if later < len(times) or not later:
        return
    first, last = (clock.show(float(time)) for time in (times.min(), times.max()))  # type: ignore[arg-type]
    raise TableError(
        f'all {later:,} edges are later than until="{until}"; their times run from {first} to {last}.',
        file=table.name,
        column=clock.column,
    )


def _decay(clock: Clock, times: pl.Series, end: float, half_life: str | float) -> pl.Expr:
    span = clock.read_half_life(half_life)
    if (end - float(times.max())) / span > _OLDEST:  # type: ignore[arg-type]
        raise ValueError(
            f"from_tables: half_life must be larger, since every edge is more than {_OLDEST:g} half-lives "
            f"older than {clock.show(end)}, got {half_life!r}."
        )
    return pl.lit(2.0).pow((clock.cell - end) / span)


def _span(value: Any) -> tuple[float, str | None] | None:
    """Split "30d" into a number > 0 and a unit; a number has no unit; None if it is neither."""
    if isinstance(value, str):
        found = _SPAN.fullmatch(value.strip())
        number, unit = (float(found[1]), found[2]) if found else (0.0, None)
    else:
        number, unit = (float(value), None) if _is_number(value) else (0.0, None)
    return (number, unit) if number > 0 else None


def _number(value: str | float) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
