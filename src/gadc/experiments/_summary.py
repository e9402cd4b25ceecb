"""From runs to figures: mean and standard deviation of a cell beside the published ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median, pstdev

from gadc.experiments._result import Result
from gadc.experiments._spec import Row, Table


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The measured and the published figure of one cell.

    Attributes:
        table: Name of the table.
        row: Name of the row.
        column: Name of the column.
        runs: Number of successful runs.
        mean: Mean over these runs; None without any.
        std: Population standard deviation (divisor `runs`), as in the paper's scripts.
        paper_mean: Published mean.
        paper_std: Published standard deviation.
        paper_runs: Number of runs in the paper.
        failed: Number of failed runs.
        seconds: Median time of a run.
        tolerance: Distance from the published mean that still is a match.
        ahead: Whether the target is to reach or pass the published figure, not to match it.
    """

    table: str
    row: str
    column: str
    runs: int
    mean: float | None
    std: float | None
    paper_mean: float | None
    paper_std: float | None
    paper_runs: int
    failed: int = 0
    seconds: float | None = None
    tolerance: float = 1.0
    ahead: bool = False

    @property
    def gap(self) -> float | None:
        """Our mean minus the paper's."""
        return None if self.mean is None or self.paper_mean is None else self.mean - self.paper_mean

    @property
    def gap_in_errors(self) -> float | None:
        """The gap in standard errors of the difference.

        None if one side has no standard deviation, or if the target is to be ahead: the highest of many
        published figures is not a sample of one model.
        """
        if self.ahead or self.gap is None or self.std is None or self.paper_std is None or self.runs < 2:
            return None
        error = math.sqrt(self.std**2 / self.runs + self.paper_std**2 / self.paper_runs)
        return self.gap / error if error > 0 else None

    @property
    def target(self) -> float:
        """Distance from the published mean that still is a match: max(1 published std, the tolerance)."""
        return max(self.paper_std or 0.0, self.tolerance)

    @property
    def within_target(self) -> bool | None:
        """Whether the mean is within the target; None unless both figures are known.

        If the target is to be ahead: whether the mean is at least the published one.
        """
        if self.gap is None:
            return None
        return self.gap >= 0 if self.ahead else abs(self.gap) <= self.target


def summarize(table: Table, results: Iterable[Result]) -> list[Summary]:
    """Summarize every cell that was run or published, in the order of the table."""
    by_cell: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        by_cell.setdefault((result.row, result.column), []).append(result)
    return [
        _summary(table, row, column.name, by_cell.get((row.name, column.name), []))
        for row in table.rows
        for column in table.columns
        if (row.name, column.name) in by_cell or column.name in row.published
    ]


def _summary(table: Table, row: Row, column: str, results: Sequence[Result]) -> Summary:
    paper_mean, paper_std = row.published.get(column, (None, None))
    values = [result.test for result in results if result.test is not None]
    seconds = [result.seconds for result in results if result.ok and result.seconds is not None]
    return Summary(
        table=table.name,
        row=row.name,
        column=column,
        runs=len(values),
        mean=fmean(values) if values else None,
        std=pstdev(values) if values else None,
        paper_mean=paper_mean,
        paper_std=paper_std,
        paper_runs=table.runs,
        failed=len(results) - len(values),
        seconds=median(seconds) if seconds else None,
        tolerance=table.tolerance if row.tolerance is None else row.tolerance,
        ahead=table.ahead,
    )
