"""What the reports of `demo`, `fit` and `evaluate` share; `gadc.report._run_report` is the page."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc.cli._output import check_folder, text

if TYPE_CHECKING:
    from torch_geometric.data import Data

_LISTED = 12  # classes whose sizes a card has room for
SUFFIXES = (".html", ".htm")

ReportFile = Annotated[
    Path | None, typer.Option("--report", help="Also write a report: one HTML file with tables and plots.")
]


def check_report(path: Path, option: str = "--report", *, make_folder: bool = False) -> None:
    """Refuse a report that could not be written before the work is done."""
    from gadc._base.extras import require

    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{option} must end in {' or '.join(SUFFIXES)}, got {str(path)!r}.")
    if make_folder:
        path.parent.mkdir(parents=True, exist_ok=True)
    check_folder(path, option)
    for package in ("matplotlib", "jinja2"):
        require(package, "report")


def command_line(context: typer.Context) -> str:
    """The command as it was given, ready to be given again."""
    words = ["gadc", context.info_name or ""]
    for parameter in context.command.params:
        name, value = parameter.name or "", context.params.get(parameter.name or "")
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE":
            continue
        if parameter.param_type_name == "argument":
            words.append(str(value))
        elif isinstance(value, bool):
            words.append((parameter.opts if value else parameter.secondary_opts)[-1])
        else:
            for one in value if isinstance(value, list | tuple) else (value,):
                words += [parameter.opts[-1], str(one)]
    return shlex.join(words)


def texts(facts: dict[str, Any]) -> dict[str, str]:
    """Facts for a reader, without those that are empty."""
    return {key.replace("_", " "): text(value) for key, value in facts.items() if value not in (None, [], {})}


def card(data: "Data") -> dict[str, str]:
    """The data card."""
    from gadc.datasets import graph_statistics

    facts = graph_statistics(data)
    sizes = facts.get("classes")
    if sizes:
        listed = ", ".join(f"{name}: {size:,}" for name, size in sizes.items())
        facts |= {"classes": len(sizes), "nodes_by_class": listed if len(sizes) <= _LISTED else None}
    return texts(facts)
