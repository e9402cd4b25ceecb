"""A table laid out for reading: what each entry says, its mark and its tone, the same in every format.

A mark tells whether our mean lies within the target of the published one. A tone tells which way it differs,
and is neutral up to one standard error: a difference in our favour is a difference too, and shown as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from gadc.experiments import Row, Summary, Table

Tone = Literal["worse", "even", "better", "ours", "failed", "absent"]

WITHIN, OUTSIDE, NOT_RUN = "✓", "✗", "—"
LEGEND = (
    "An entry is our mean ± standard deviation (successful runs), the paper's, and ours minus the paper's"
    " in points and in standard errors of the difference (SE)."
    f" {WITHIN} within the target: max(1 published standard deviation, 1 point)."
    f" {OUTSIDE} outside it. {NOT_RUN} not run: the published figure alone."
    " Rows marked (ours only) are not in the paper."
)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What stands in one cell.

    Attributes:
        ours: Our mean, spread and runs, or "" if nothing was run.
        paper: The paper's mean and spread, or "".
        gap: Mark and difference, or "" unless both are known.
        tone: How ours differs from the paper's.
        value: What a reader sorts by: our mean, else the paper's.
    """

    ours: str = ""
    paper: str = ""
    gap: str = ""
    tone: Tone = "absent"
    value: float | None = None

    @property
    def lines(self) -> list[str]:
        """The parts that are there, in reading order."""
        return [line for line in (self.ours, self.paper, self.gap) if line]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Entries by line and column; models go where that makes the grid narrower.

    Attributes:
        corner: What the lines are: "model" or "data".
        columns: Headers.
        lines: A header and one entry a column, for each line.
    """

    corner: str
    columns: list[str]
    lines: list[tuple[str, list[Entry]]]


def lay_out(table: Table, summaries: Sequence[Summary]) -> Grid:
    """Arrange the summaries in the table's order; rows and columns without any are left out."""
    found = {(table.row(item.row).name, table.column(item.column).name): item for item in summaries}
    rows = [row for row in table.rows if any(row.name == name for name, _ in found)]
    names = [column.name for column in table.columns if any(column.name == name for _, name in found)]
    places = {name: _places(item for item in summaries if item.column == name) for name in names}
    by_row = [[_entry(found.get((row.name, name)), places[name]) for name in names] for row in rows]
    models = [_header(row) for row in rows]
    if len(models) < len(names):
        by_column = [list(column) for column in zip(*by_row, strict=True)]
        return Grid(corner="data", columns=models, lines=list(zip(names, by_column, strict=True)))
    return Grid(corner="model", columns=names, lines=list(zip(models, by_row, strict=True)))


def tally(table: Table, summaries: Sequence[Summary]) -> str:
    """One sentence that counts what was met, missed, not run and failed."""
    if not summaries:
        return "No results, and no published figures."
    run = [item for item in summaries if item.mean is not None]
    verdicts = [item.within_target for item in run if item.within_target is not None]
    failed = sum(item.failed for item in summaries)
    short = sum(item.runs < item.paper_runs for item in run)
    waiting = sum(item.mean is None and not item.failed for item in summaries)
    counts = {
        f"figures beside the paper's ({sum(verdicts)} {WITHIN}, {verdicts.count(False)} {OUTSIDE})": len(
            verdicts
        ),
        "ours only": len(run) - len(verdicts),
        f"not run ({NOT_RUN})": waiting,
        f"of ours with fewer than the paper's {table.runs} runs": short,
        "failed runs": failed,
    }
    return "; ".join(f"{count} {what}" for what, count in counts.items() if count) + "."


def _header(row: Row) -> str:
    return f"{row.label} (ours only)" if row.companion else row.label


def _entry(item: Summary | None, places: int) -> Entry:
    if item is None:
        return Entry()
    paper = "" if item.paper_mean is None else f"paper {_spread(item.paper_mean, item.paper_std, places)}"
    if item.mean is None:
        if item.failed:
            return Entry(
                ours=f"{_count(item.failed)} failed", paper=paper, tone="failed", value=item.paper_mean
            )
        return Entry(paper=f"{NOT_RUN} {paper}", value=item.paper_mean)
    runs = _count(item.runs) + (f", {item.failed} failed" if item.failed else "")
    ours = f"{_spread(item.mean, item.std, places)} ({runs})"
    return Entry(ours=ours, paper=paper, gap=_gap(item, places), tone=_tone(item), value=item.mean)


def _gap(item: Summary, places: int) -> str:
    if item.gap is None:
        return ""
    text = f"{WITHIN if item.within_target else OUTSIDE} {_signed(item.gap, places)}"
    return text if item.gap_in_errors is None else f"{text}, {_signed(item.gap_in_errors, 1)} SE"


def _tone(item: Summary) -> Tone:
    if item.gap is None:
        return "ours"
    # Without a standard error the target is the only yardstick left; being ahead is not being even.
    met = item.within_target and not item.ahead
    even = met if item.gap_in_errors is None else abs(item.gap_in_errors) <= 1
    return "even" if even else "better" if item.gap > 0 else "worse"


def _places(items: Iterable[Summary]) -> int:
    """Decimals of a column: as many as the paper prints; without a published figure 1, or 3 if small."""
    ours, paper = [], []
    for item in items:
        ours += [abs(item.mean)] if item.mean is not None else []
        paper += [figure for figure in (item.paper_mean, item.paper_std) if figure is not None]
    if paper:
        return max(-int(Decimal(repr(figure)).as_tuple().exponent) for figure in paper)
    return 1 if max(ours, default=100.0) >= 10 else 3


def _spread(mean: float, std: float | None, places: int) -> str:
    text = f"{mean:.{places}f}" if std is None else f"{mean:.{places}f} ± {std:.{places}f}"
    return text.replace("-", "−")


def _signed(value: float, places: int) -> str:
    value = round(value, places) + 0.0  # adding zero turns -0.0 into 0.0
    return f"{value:+.{places}f}".replace("-", "−")


def _count(runs: int) -> str:
    return f"{runs} run" if runs == 1 else f"{runs} runs"
