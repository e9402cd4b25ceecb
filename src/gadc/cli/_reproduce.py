"""`gadc reproduce` and `gadc report`: the tables of the paper, ours beside theirs."""

from pathlib import Path
from typing import Annotated

import typer

Tables = Annotated[
    list[str] | None, typer.Argument(help="Tables to run, all of them by default; `list` shows them.")
]
Rows = Annotated[str | None, typer.Option(help="Rows to run, separated by commas.")]
Columns = Annotated[str | None, typer.Option(help="Columns to run, separated by commas.")]
Runs = Annotated[int | None, typer.Option(min=1, help="Runs of each cell; the paper's number by default.")]
Jobs = Annotated[int, typer.Option(min=1, help="Processes; of several, each has one thread.")]
Resume = Annotated[
    bool,
    typer.Option("--resume/--fresh", help="Go on from stored results, or put them aside and start anew."),
]


def reproduce(
    tables: Tables = None,
    rows: Rows = None,
    columns: Columns = None,
    runs: Runs = None,
    jobs: Jobs = 1,
    resume: Resume = True,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Reproduce tables of the paper, resumably, and print ours beside theirs.

    Results are kept run by run; a long run that was cut off goes on from its last minute, whose state is
    kept in the user cache.

    Example: gadc reproduce metattack --columns cora-0.25 --rows gadc-iv,mlp --jobs 2
    """
    from gadc.cli import _reproduction as reproduction

    if tables == ["list"]:
        return reproduction.list_tables(as_json)
    well = reproduction.reproduce(
        tables or [],
        rows=_names(rows),
        columns=_names(columns),
        runs=runs,
        jobs=jobs,
        resume=resume,
        out=out,
        as_json=as_json,
    )
    raise typer.Exit(0 if well else 1)


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of the results.")],
    out: Annotated[Path | None, typer.Option(help="Where to; `report` in that folder by default.")] = None,
    docs: Annotated[Path | None, typer.Option(help="Also write all tables as one Markdown page.")] = None,
) -> None:
    """Write stored results as Markdown, LaTeX and HTML with plots.

    Example: gadc report results --docs docs/reproduction.md
    """
    from gadc.cli import _reproduction as reproduction

    reproduction.report(folder, out, docs)


def _names(text: str | None) -> list[str] | None:
    return [name.strip() for name in text.split(",") if name.strip()] if text else None
