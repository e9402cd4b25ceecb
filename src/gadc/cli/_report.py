"""`gadc report`: stored results as pages."""

from pathlib import Path
from typing import Annotated

import typer

from gadc.cli._options.output import check_folder
from gadc.cli._output import say
from gadc.experiments import Store, current_results, load_table, summarize, table_names
from gadc.report import write_report, write_reproduction_page


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

    Example: gadc report results --docs docs/reproduction.md
    """
    if not folder.is_dir():
        raise ValueError(f"report: folder must be a folder of results, got {str(folder)!r}.")
    check_folder(out or folder / "report")
    if docs is not None:
        check_folder(docs.parent, "--docs")
    store = Store(folder)
    tables = [load_table(name) for name in table_names()]
    summarized = [(table, summarize(table, current_results(table, store))) for table in tables]
    for path in write_report(summarized, out or folder / "report"):
        say(f"Wrote {path}")
    if docs is not None:
        for path in write_reproduction_page(summarized, docs):
            say(f"Wrote {path}")
