"""From runs to figures: mean and standard deviation of a cell beside the published ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, median, pstdev
from typing import Any

from gadc.experiments._spec import Row, Table


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What was measured in one cell, and what the paper printed there.

    Attributes:
        runs: Successful runs; `failed` ones are counted apart.
        std: Population standard deviation (divisor `runs`), as in the paper's scripts.
        seconds: Median time of a run.
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
        """Ours minus the paper's."""
        return None if self.mean is None or self.paper_mean is None else self.mean - self.paper_mean

    @property
    def gap_in_errors(self) -> float | None:
        """The gap in standard errors of the difference; None where one side has no spread to judge by.

        Nor where the aim is to be ahead: the highest of many published figures is no sample of one model.
        """
        if self.ahead or self.gap is None or self.std is None or self.paper_std is None or self.runs < 2:
            return None
        error = math.sqrt(self.std**2 / self.runs + self.paper_std**2 / self.paper_runs)
        return self.gap / error if error > 0 else None

    @property
    def within_target(self) -> bool | None:
        """Whether the mean is within max(1 published standard deviation, the tolerance) of the published.

        Where the aim is to be ahead: whether it is no lower.
        """
        if self.gap is None:
            return None
        return self.gap >= 0 if self.ahead else abs(self.gap) <= max(self.paper_std or 0.0, self.tolerance)


def summarize(table: Table, results: Iterable[dict[str, Any]]) -> list[Summary]:
    """One summary for every cell that was run or published, in the table's order."""
    by_cell: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for result in results:
        by_cell.setdefault((result["row"], result["column"]), []).append(result)
    return [
        _summary(table, row, column.name, by_cell.get((row.name, column.name), []))
        for row in table.rows
        for column in table.columns
        if (row.name, column.name) in by_cell or column.name in row.published
    ]


def _summary(table: Table, row: Row, column: str, results: list[dict[str, Any]]) -> Summary:
    paper_mean, paper_std = row.published.get(column, (None, None))
    good = [result for result in results if result["status"] == "ok"]
    values = [result["test"] for result in good]
    return Summary(
        table=table.name,
        row=row.name,
        column=column,
        runs=len(good),
        mean=fmean(values) if values else None,
        std=pstdev(values) if values else None,
        paper_mean=paper_mean,
        paper_std=paper_std,
        paper_runs=table.runs,
        failed=len(results) - len(good),
        seconds=median(result["seconds"] for result in good) if good else None,
        tolerance=table.tolerance if row.tolerance is None else row.tolerance,
        ahead=table.ahead,
    )
