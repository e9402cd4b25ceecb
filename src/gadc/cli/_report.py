"""`gadc report`: stored results as pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gadc._base.deferred import deferred
from gadc.cli._options.output import check_folder
from gadc.cli._output import say

with deferred():
    from gadc import experiments
    from gadc import report as reports


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of the results.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder to write to. Default: `report` in the folder of the results.")
    ] = None,
    docs: Annotated[
        Path | None,
        typer.Option(
            help="Markdown page of all tables to write as well, with a picture in its folder `images`."
        ),
    ] = None,
) -> None:
    """Write stored results as Markdown, LaTeX and HTML with plots.

    Example: gadc report results --docs docs/evidence/reproduction.md
    """
    if not folder.is_dir():
        raise ValueError(f"report: folder must be a folder of results, got {str(folder)!r}.")
    check_folder(out or folder / "report")
    if docs is not None:
        check_folder(docs.parent, "--docs")
    store = experiments.Store(folder)
    tables = [experiments.load_table(name) for name in experiments.table_names()]
    summarized = [
        (table, experiments.summarize(table, experiments.current_results(table, store))) for table in tables
    ]
    for path in reports.write_report(summarized, out or folder / "report"):
        say(f"Wrote {path}")
    if docs is not None:
        for path in reports.write_reproduction_page(summarized, docs):
            say(f"Wrote {path}")
