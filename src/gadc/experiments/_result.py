"""The result of one run, and its line in a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Result:
    """One run of one cell: which run, how it was made and what came out.

    Attributes:
        table: Name of the table.
        row: Name of the row.
        column: Name of the column.
        run: Number of the run, from 0.
        settings: Everything that decides the outcome besides the seed.
        settings_hash: `fingerprint(settings)`.
        versions: Versions of Python and of the packages that decide the figures.
        test: The figure of the run, mostly the test accuracy in percent; None if the run failed.
        val: Validation accuracy in percent, if there is one.
        clean: Test accuracy before the attack, in columns with an attack.
        epoch: Epoch whose weights were kept.
        seconds: Wall time of the run.
        peak_mb: Highest memory of the process so far, in MiB.
        error: Why the run failed, on one line; "" if it did not.
    """

    table: str
    row: str
    column: str
    run: int
    settings: Mapping[str, Any]
    settings_hash: str
    versions: Mapping[str, str]
    test: float | None = None
    val: float | None = None
    clean: float | None = None
    epoch: int | None = None
    seconds: float | None = None
    peak_mb: int | None = None
    error: str = ""

    @property
    def ok(self) -> bool:
        """Whether the run gave a figure."""
        return self.test is not None

    @property
    def name(self) -> str:
        """The run in words, such as "metattack gadc-iv cora-0.25 run 3"."""
        return f"{self.table} {self.row} {self.column} run {self.run}"


_FIGURES: dict[str, Callable[[str], float | int]] = {
    "test": float,
    "val": float,
    "clean": float,
    "epoch": int,
    "seconds": float,
    "peak_mb": int,
}
# The error comes last: a line that was cut short anywhere else has too few entries.
_ENTRIES = ("row", "column", "run", *_FIGURES, "settings", "versions", "error")
HEADER = ",".join(_ENTRIES)


def to_line(result: Result, *, versions: str) -> str:
    """Write a result as one line of CSV, without its end; settings and versions are given by their hashes."""
    figures = [getattr(result, name) for name in _FIGURES]
    texts = ["" if figure is None else repr(figure) for figure in figures]
    error = " ".join(result.error.split())  # a line feed would tear the line
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="")
    writer.writerow([result.row, result.column, result.run, *texts, result.settings_hash, versions, error])
    return line.getvalue()


def from_line(
    line: str,
    table: str,
    *,
    settings: Mapping[str, Mapping[str, Any]],
    versions: Mapping[str, Mapping[str, str]],
) -> Result | None:
    """Read a line of CSV; None if it is the header, was cut short, or refers to an unknown hash.

    Args:
        line: The line.
        table: Name of the table.
        settings: All stored settings by their hash.
        versions: All stored versions by their hash.
    """
    try:
        [texts] = csv.reader([line], strict=True)
        entries = dict(zip(_ENTRIES, texts, strict=True))
        figures: dict[str, Any] = {
            name: parse(entries[name]) for name, parse in _FIGURES.items() if entries[name]
        }
        return Result(
            table=table,
            row=entries["row"],
            column=entries["column"],
            run=int(entries["run"]),
            settings=settings[entries["settings"]],
            settings_hash=entries["settings"],
            versions=versions[entries["versions"]],
            error=entries["error"],
            **figures,
        )
    except (ValueError, KeyError, csv.Error):
        return None
