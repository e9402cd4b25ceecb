"""A section of a report: one table, its figures and its plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gadc.experiments import Summary, Table
from gadc.report._curves import Plot


@dataclass(frozen=True, kw_only=True)
class Section:
    """One table with everything that each format shows of it.

    Attributes:
        table: The table.
        summaries: Summaries of its cells.
        plots: Plots of its curves.
    """

    table: Table
    summaries: Sequence[Summary]
    plots: Sequence[Plot]
