"""What a cell says: the figures, a mark and a tone, the same in every format.

A mark tells whether our mean is within the target of the published one. A tone tells which way it differs,
and is neutral up to one standard error: a difference in our favour is a difference too, and shown as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gadc.experiments import Summary

Tone = Literal["worse", "even", "better", "ours", "failed", "absent"]

WITHIN, OUTSIDE, NOT_RUN = "✓", "✗", "—"


@dataclass(frozen=True, kw_only=True)
class CellText:
    """The text of one cell.

    Attributes:
        ours: Our mean, standard deviation and number of runs, or "" if nothing was run.
        paper: The published mean and standard deviation, or "".
        gap: Mark and difference, or "" unless both figures are known.
        tone: How our figure differs from the published one.
        value: Number by which a reader sorts: our mean, or else the published one.
    """

    ours: str = ""
    paper: str = ""
    gap: str = ""
    tone: Tone = "absent"
    value: float | None = None

    @property
    def lines(self) -> list[str]:
        """The parts that are not empty, in reading order."""
        return [line for line in (self.ours, self.paper, self.gap) if line]


def cell_text(item: Summary | None, places: int) -> CellText:
    """Write the text of a cell.

    Args:
        item: Summary of the cell; None if it is empty.
        places: Number of decimals.
    """
    if item is None:
        return CellText()
    paper = ""
    if item.paper_mean is not None:
        paper = f"paper {_mean_and_std(item.paper_mean, item.paper_std, places)}"
    if item.mean is None and item.failed:
        ours = f"{_count(item.failed)} failed"
        return CellText(ours=ours, paper=paper, tone="failed", value=item.paper_mean)
    if item.mean is None:
        return CellText(paper=f"{NOT_RUN} {paper}", value=item.paper_mean)
    runs = _count(item.runs) + (f", {item.failed} failed" if item.failed else "")
    ours = f"{_mean_and_std(item.mean, item.std, places)} ({runs})"
    return CellText(ours=ours, paper=paper, gap=_gap(item, places), tone=_tone(item), value=item.mean)


def _gap(item: Summary, places: int) -> str:
    if item.gap is None:
        return ""
    text = f"{WITHIN if item.within_target else OUTSIDE} {_signed(item.gap, places)}"
    return text if item.gap_in_errors is None else f"{text}, {_signed(item.gap_in_errors, 1)} SE"


def _tone(item: Summary) -> Tone:
    if item.gap is None:
        return "ours"
    # Without a standard error only the target is left to judge by; being ahead is not being even.
    met = item.within_target and not item.ahead
    even = met if item.gap_in_errors is None else abs(item.gap_in_errors) <= 1
    return "even" if even else "better" if item.gap > 0 else "worse"


def _mean_and_std(mean: float, std: float | None, places: int) -> str:
    text = f"{mean:.{places}f}" if std is None else f"{mean:.{places}f} ± {std:.{places}f}"
    return text.replace("-", "−")


def _signed(value: float, places: int) -> str:
    value = round(value, places) + 0.0  # adding zero turns -0.0 into 0.0
    return f"{value:+.{places}f}".replace("-", "−")


def _count(runs: int) -> str:
    return f"{runs} run" if runs == 1 else f"{runs} runs"
