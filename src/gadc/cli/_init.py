"""`gadc init`: write the options of a graph to a file, from what its tables hold."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc._base.files import write_text
from gadc._base.text import visible
from gadc.cli._options.config import NAME
from gadc.cli._options.output import AsJson, check_file
from gadc.cli._options.texts import split_names
from gadc.cli._output import print_facts, print_json, say
from gadc.cli._progress import working
from gadc.cli._wording import name_options

if TYPE_CHECKING:
    from gadc.datasets.tables._inspection import Found

with deferred():
    from gadc import datasets
    from gadc.datasets.tables import _inspection as inspection


def init(
    folder: Annotated[Path, typer.Argument(help="Folder with the tables.")] = Path(),
    edges: Annotated[Path | None, typer.Option("--edges", help="Edge table. Default: found.")] = None,
    nodes: Annotated[Path | None, typer.Option("--nodes", help="Node table. Default: found.")] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help=f"File to write. Default: {NAME} in the folder.")
    ] = None,
    exclude: Annotated[
        str | None, typer.Option("--exclude", help="Columns that are not features, separated by commas.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write gadc.toml with the tables of a graph and their columns, which all commands then read.

    The tables are inspected: a column without repeated values whose values are the ends of edges is the id,
    and so on. Nothing is asked; the file says what was found, and what is wrong with the tables as comments.

    Example: gadc init data/
    """
    if not folder.is_dir():
        raise ValueError(f"init: the folder must exist, got {str(folder)!r}.")
    path = folder / NAME if out is None else out
    check_file(path)
    if path.exists() and not force:
        raise ValueError(f"{path} exists; use --force to replace it.")
    with working("Reading the tables"):
        found = inspection.find_tables(folder, edges, nodes)
        options = _options(found, split_names(exclude))
        comments = _try(found, options)
    write_text(path, _toml(found, options, comments, path))
    facts = {"out": str(path), "edges": str(found.edges), "nodes": str(found.nodes), **options}
    if as_json:
        return print_json({**facts, "comments": comments})
    print_facts(str(path), facts)
    for line in comments:
        say(f"note: {line}")


def _options(found: Found, exclude: list[str]) -> dict[str, Any]:
    names = ("source", "target", "weight", "node_id", "label")
    options = {name: value for name in names if (value := getattr(found, name)) is not None}
    if options.get("label") in exclude:  # it was only a guess
        del options["label"]
    return {**options, "exclude": exclude} if exclude else options


def _try(found: Found, options: dict[str, Any]) -> list[str]:
    """Read the graph, and return what the user should know about the tables."""
    try:
        report = datasets.from_tables(found.edges, found.nodes, **options, categorical="auto").table_report
    except datasets.TableError as error:
        return [name_options(str(problem)) for problem in error.problems]
    left_out = [f"column {name!r} is left out: {reason}" for name, reason in report.left_out.items()]
    return [name_options(line) for line in (*left_out, *report.notes)]


def _toml(found: Found, options: dict[str, Any], comments: list[str], path: Path) -> str:
    """Write the file; JSON text is TOML text."""
    folder = path.absolute().parent
    lines = ["# Options of this graph for all gadc commands; an option of the command line has precedence."]
    lines += [f"# {visible(line).replace(chr(10), ' ')}" for line in comments]
    lines += ["", "[graph]"]
    for name in ("edges", "nodes"):
        place = os.path.relpath(getattr(found, name).absolute(), folder)
        lines.append(f"{name} = {json.dumps(Path(place).as_posix())}")
    lines += [f"{name.replace('_', '-')} = {json.dumps(value)}" for name, value in options.items()]
    return "\n".join(lines) + "\n"
