"""Tables as Markdown, for `report.md` and for the reproduction page of the documentation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gadc.experiments import Summary, Table
from gadc.report._cell_text import CellText
from gadc.report._grid import LEGEND, lay_out, tally
from gadc.report._section import Section


def markdown_tables(table: Table, summaries: Sequence[Summary]) -> str:
    """Write the heading, source, notes and figures of a table; the same input gives the same text."""
    about = [
        f"## {table.title}",
        f"`{table.name}`, {table.source}.",
        *(["\n".join(f"- {note}" for note in table.notes)] if table.notes else []),
        tally(table, summaries),
    ]
    if not summaries:
        return "\n\n".join(about) + "\n"
    grid = lay_out(table, summaries)
    lines = [_line([grid.corner, *map(_escape, grid.columns)]), _line(["---"] * (len(grid.columns) + 1))]
    lines += [_line([_escape(header), *map(_text, cells)]) for header, cells in grid.lines]
    return "\n\n".join([*about, "\n".join(lines)]) + "\n"


def document(sections: Sequence[Section], title: str) -> str:
    """Write the report."""
    parts = [f"# {title}\n", LEGEND + "\n"]
    for section in sections:
        parts.append(markdown_tables(section.table, section.summaries))
        parts += [f"![{plot.title}](plots/{plot.name}.svg)\n" for plot in section.plots]
    return "\n".join(parts if sections else [*parts, "No results: no table was given.\n"])


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _text(cell: CellText) -> str:
    return "<br>".join(cell.lines)


def _escape(text: str) -> str:
    return re.sub(r"([\\|*_`<\[\]])", r"\\\1", text)
