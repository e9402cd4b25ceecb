"""Write the report of experiments as Markdown, LaTeX and HTML, with plots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gadc._base.files import write_bytes
from gadc.experiments import Summary, Table
from gadc.report import _html, _latex, _markdown
from gadc.report._curves import find_plots
from gadc.report._draw_plot import draw_plot
from gadc.report._section import Section


def write_report(
    tables: Sequence[tuple[Table, Sequence[Summary]]],
    out: Path,
    *,
    title: str = "GADC: our figures beside the published ones",
) -> list[Path]:
    """Write `report.md`, `report.tex`, `report.html` and the plots, and return their paths.

    Args:
        tables: Each table with its summaries; a table without summaries is named as empty.
        out: Folder to write to; it is created if it is missing. Plots go to its folder `plots`.
        title: Heading of the report.

    Raises:
        ImportError: There is something to plot, and matplotlib is missing.
    """
    sections = [
        Section(table=table, summaries=summaries, plots=find_plots(table, summaries))
        for table, summaries in tables
    ]
    plots = [plot for section in sections for plot in section.plots]
    pictures = {f"{plot.name}.{kind}": draw_plot(plot, kind) for plot in plots for kind in ("svg", "png")}
    svgs = {plot.name: pictures[f"{plot.name}.svg"].decode() for plot in plots}
    files = {
        "report.md": _markdown.document(sections, title).encode(),
        "report.tex": _latex.document(sections, title).encode(),
        "report.html": _html.document(sections, svgs, title).encode(),
        **{f"plots/{name}": content for name, content in pictures.items()},
    }
    for name, content in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)
    return [out / name for name in files]
