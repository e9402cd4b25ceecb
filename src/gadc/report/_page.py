"""The page `docs/reproduction.md`: every stored figure beside the published one."""

from __future__ import annotations

from collections.abc import Iterable

from gadc.experiments import Summary, Table
from gadc.report._grid import LEGEND
from gadc.report._markdown import markdown_tables

_HEAD = """# Reproduction

Generated from the stored runs in `results/` by `gadc report results --docs docs/reproduction.md`; a test
checks that it matches them. Every run can be repeated alone (`gadc reproduce TABLE --rows R --columns C
--runs N`) from the same random numbers. Its figure is the same but for rounding, which differs between
processors and between versions of the code that sum in another order, and of which training can make more.
"""


def reproduction_page(tables: Iterable[tuple[Table, list[Summary]]]) -> str:
    """All tables that have a figure, one after another."""
    parts = [_HEAD, LEGEND]
    parts += [markdown_tables(table, summaries) for table, summaries in tables if summaries]
    return "\n".join(part.strip() + "\n" for part in parts)
