"""A part of a report: one table, its figures and its plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gadc.experiments import Summary, Table
from gadc.report._curves import Plot


@dataclass(frozen=True, kw_only=True)
class Section:
    """One table with what every format shows of it."""

    table: Table
    summaries: Sequence[Summary]
    plots: Sequence[Plot]
