"""`gadc data`: list, describe, get and verify the named data sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from gadc.cli import _own_graph as own
from gadc.cli._bundles import spread
from gadc.cli._output import AsJson, print_facts, print_json, text

if TYPE_CHECKING:
    from gadc.datasets import Card
    from gadc.datasets.named._sources import Sources

app = typer.Typer(no_args_is_help=True, help="Named data sets: list, describe, get, verify.")

Name = Annotated[str, typer.Argument(help="Name of a data set, as `gadc data list` gives it.")]
DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Folder with raw files; the default is GADC_DATA.")
]


@app.command("list")
def list_(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the names, and which of them are here."""
    from gadc.datasets.named._registry import REGISTRY
    from gadc.datasets.named._sources import Sources

    sources = Sources(root=data_dir)
    rows = [
        {
            "name": name,
            "nodes": entry.nodes,
            "features": entry.features,
            "classes": entry.classes,
            "edges": entry.edges,
            "splits": list(entry.splits),
            "attacks": list(entry.attacks),
            "here": name == "digits" or (bool(entry.files) and all(map(sources.find, entry.files))),
        }
        for name, entry in REGISTRY.items()
    ]
    if as_json:
        return print_json(rows)
    table = Table(box=None)
    columns = ("name", "nodes", "features", "classes", "edges", "here", "splits")
    for column in columns:
        numeric = column in ("nodes", "features", "classes", "edges")
        table.add_column(column, justify="right" if numeric else "left", no_wrap=column != "splits")
    for row in rows:
        table.add_row(*(text(row[column]) for column in columns))
    Console().print(table)


@app.command()
@spread
def info(
    mine: own.OwnGraph,
    name: Annotated[
        str | None, typer.Argument(help="Name of a data set, or none with a graph of your own.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Name of a split; the default is the usual one.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed or number of the split.")] = None,
    attack: Annotated[str | None, typer.Option(help="Name of a published attack.")] = None,
    rate: Annotated[float | None, typer.Option(help="Rate of the attack.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Describe a data set, or a graph of your own: the data card.

    Examples: gadc data info cora    |    gadc data info --edges edges.csv --nodes nodes.csv --label kind
    """
    from gadc.datasets import card

    if (name is not None) == mine.is_given:
        raise ValueError(
            "data info: give the name of a data set, or a graph of your own with --edges and --nodes."
        )
    if name is None:
        return _describe_own(mine, as_json)
    found = card(name, root=data_dir, split=split, seed=seed, attack=attack, rate=rate)
    if as_json:
        return print_json(found.to_dict())
    _print_card(found)


@app.command()
def get(name: Name, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Download the files of a data set, its splits and attacked graphs into the user cache."""
    from gadc.datasets.named._loading import read_raw_graph
    from gadc.datasets.named._registry import record
    from gadc.datasets.named._sources import Sources

    sources = Sources(root=data_dir, progress=not as_json)
    if name == "ogbn-products":
        read_raw_graph(name, sources)  # the ogb package has its own download
    states = {}
    for path in record(name).all_files:
        states[path] = _fetch(sources, path, name)
        if not as_json:
            typer.echo(f"{path}: {states[path]}")
    missing = [path for path, state in states.items() if state.startswith("missing")]
    if as_json:
        print_json({"name": name, "files": states, "missing": missing})
    elif missing:
        count = f"{len(missing)} of {len(states)} files are missing"
        typer.echo(f"{count}; put them under {sources.places[0]}.", err=True)
    else:
        typer.echo(f"{name}: complete.")
    raise typer.Exit(1 if missing else 0)


def _fetch(sources: "Sources", path: str, name: str) -> str:
    """Get one file unless it is here; what became of it."""
    from gadc.datasets import DatasetNotFoundError

    if sources.peek(path) is not None:
        return "here"
    try:
        return f"got {sources.fetch(path, owner=name).stat().st_size:,} bytes"
    except DatasetNotFoundError as error:
        return f"missing: {error.__cause__}"


@app.command()
def verify(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Compare every known file that is here with its SHA-256."""
    from gadc.datasets import ChecksumError
    from gadc.datasets.named._checksums import check, known
    from gadc.datasets.named._sources import Sources

    files = [(place / path, path) for place in Sources(root=data_dir).places for path in known()]
    here = [(file, path) for file, path in files if file.is_file()]
    wrong = []
    for file, path in here:
        try:
            check(file.read_bytes(), path, str(file))
        except ChecksumError as error:
            wrong.append({"file": error.file, "expected": error.expected, "got": error.got})
    if as_json:
        print_json({"checked": len(here), "wrong": wrong})
    else:
        for row in wrong:
            typer.echo(f"{row['file']}: expected {row['expected']}, got {row['got']}", err=True)
        typer.echo(f"{len(here)} known files found, {len(wrong)} differ from the published ones.")
    raise typer.Exit(1 if wrong else 0)


def _describe_own(graph: own.OwnGraph, as_json: bool) -> None:
    """The facts of a user's graph, and what was found while reading it."""
    from gadc.datasets import graph_statistics

    data = graph.read()
    facts, report = graph_statistics(data), getattr(data, "table_report", None)
    if as_json:
        return print_json({**facts, "report": None if report is None else report.to_dict()})
    print_facts(str(graph.graph or graph.nodes), facts)
    if report is not None:
        typer.echo()
        typer.echo(report.summary())


def _print_card(card: "Card") -> None:
    hidden = ("name", "files")
    print_facts(card.name, {key: value for key, value in card.to_dict().items() if key not in hidden})
