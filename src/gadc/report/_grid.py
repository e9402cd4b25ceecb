"""A table laid out for reading: its cells by line and column, and its legend, the same in every format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from gadc.experiments import Row, Summary, Table
from gadc.report._cell_text import NOT_RUN, OUTSIDE, WITHIN, CellText, cell_text

NOT_IN_PAPER = "(not in the paper)"
LEGEND = (
    "Each cell shows our mean ± standard deviation with the number of successful runs, the published figure,"
    " and our mean minus the published one in points and in standard errors of the difference (SE)."
    f" {WITHIN} means within the target: one published standard deviation or one point, whichever is larger."
    f" {OUTSIDE} means outside the target. {NOT_RUN} means not run: only the published figure is known."
)


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Cells by line and column; the models run down or across, whichever makes the grid narrower.

    Attributes:
        corner: What the lines are: "model" or "data".
        columns: Headers of the columns.
        lines: For each line a header and one cell per column.
    """

    corner: str
    columns: list[str]
    lines: list[tuple[str, list[CellText]]]


def lay_out(table: Table, summaries: Sequence[Summary]) -> Grid:
    """Arrange the summaries in the order of the table; empty rows and columns are left out."""
    found = {(table.row(item.row).name, table.column(item.column).name): item for item in summaries}
    rows = [row for row in table.rows if any(row.name == name for name, _ in found)]
    names = [column.name for column in table.columns if any(column.name == name for _, name in found)]
    places = {name: _places(item for item in summaries if item.column == name) for name in names}
    by_row = [[cell_text(found.get((row.name, name)), places[name]) for name in names] for row in rows]
    models = [_header(row) for row in rows]
    if len(models) < len(names):
        by_column = [list(column) for column in zip(*by_row, strict=True)]
        return Grid(corner="data", columns=models, lines=list(zip(names, by_column, strict=True)))
    return Grid(corner="model", columns=names, lines=list(zip(models, by_row, strict=True)))


def tally(table: Table, summaries: Sequence[Summary]) -> str:
    """Count in one sentence the figures within and outside the target, not run and failed."""
    if not summaries:
        return "No results, and no published figures."
    run = [item for item in summaries if item.mean is not None]
    verdicts = [item.within_target for item in run if item.within_target is not None]
    marks = f"{sum(verdicts)} {WITHIN}, {verdicts.count(False)} {OUTSIDE}"
    alone = len(run) - len(verdicts)
    counts = {
        f"{_figures(len(verdicts))} with a published counterpart ({marks})": len(verdicts),
        f"{_figures(alone)} without {'one' if verdicts else 'a published counterpart'}": alone,
        f"not run ({NOT_RUN})": sum(item.mean is None and not item.failed for item in summaries),
        f"with fewer runs than the paper's {table.runs}": sum(item.runs < item.paper_runs for item in run),
        "failed runs": sum(item.failed for item in summaries),
    }
    return "; ".join(f"{count} {what}" for what, count in counts.items() if count) + "."


def _figures(count: int) -> str:
    return "figure" if count == 1 else "figures"


def _header(row: Row) -> str:
    return f"{row.label} {NOT_IN_PAPER}" if row.companion else row.label


def _places(items: Iterable[Summary]) -> int:
    """Choose the decimals of a column: as the paper prints; without a published figure 1, or 3 if small."""
    ours, paper = [], []
    for item in items:
        ours += [abs(item.mean)] if item.mean is not None else []
        paper += [figure for figure in (item.paper_mean, item.paper_std) if figure is not None]
    if paper:
        return max(-int(Decimal(repr(figure)).as_tuple().exponent) for figure in paper)
    return 1 if max(ours, default=100.0) >= 10 else 3
