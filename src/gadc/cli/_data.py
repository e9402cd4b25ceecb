"""`gadc data`: list, describe, download and verify named data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc._base.text import visible
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.graph import DataDir
from gadc.cli._options.output import AsJson
from gadc.cli._options.own_graph import OwnGraphOptions
from gadc.cli._output import print_facts, print_json, print_rows, say
from gadc.cli._wording import name_options

if TYPE_CHECKING:
    from gadc.datasets.named._sources import Sources

with deferred():
    from gadc import datasets
    from gadc import packed as on_disk
    from gadc.datasets.named import _checksums as checksums
    from gadc.datasets.named import _loading as loading
    from gadc.datasets.named import _registry as registry
    from gadc.datasets.named import _sources as data_sources
    from gadc.datasets.named import _states as states_of
    from gadc.packed import _graph as packed_graph
    from gadc.packed import _inspect as packed_facts


app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="List, describe, download and verify named data sets."
)

Name = Annotated[str, typer.Argument(help="Name of a data set; see `gadc data list`.")]


@app.command("list")
def list_(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the named data sets and which of them can be loaded here.

    Example: gadc data list
    """
    sources = data_sources.Sources(root=data_dir)
    states = {name: states_of.state_of(name, entry, sources) for name, entry in registry.REGISTRY.items()}
    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "nodes": entry.nodes,
            "features": entry.features,
            "classes": entry.classes,
            "edges": entry.edges,
            "state": states[name],
            "here": states[name] == "ready",
            "splits": list(entry.splits),
            "attacks": list(entry.attacks),
        }
        for name, entry in registry.REGISTRY.items()
    ]
    if as_json:
        return print_json(rows)
    shown = [{**row, "splits": ", ".join(row["splits"])} for row in rows]
    for row in shown:
        del row["attacks"], row["here"]
    print_rows("Named data sets", shown, wrap="splits")


@app.command()
@expand_bundles
def info(
    graph: OwnGraphOptions,
    name: Annotated[
        str | None, typer.Argument(help="Name of a data set; leave it out for a graph of your own.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Name of a split. Default: the usual split.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed or number of the split.")] = None,
    attack: Annotated[str | None, typer.Option(help="Published attack, such as metattack.")] = None,
    rate: Annotated[
        float | None, typer.Option(help="Rate of the published attack, as a share of the edges.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Describe a data set or a graph of your own.

    Examples: gadc data info cora    |    gadc data info --edges edges.csv --nodes nodes.csv --label kind
    """
    if (name is not None) == graph.is_given:
        raise ValueError(
            "data info: use either the name of a data set or a graph of your own (--edges and --nodes)."
        )
    if name is None:
        return _describe_own(graph, as_json)
    facts = datasets.card(name, root=data_dir, split=split, seed=seed, attack=attack, rate=rate).to_dict()
    if as_json:
        return print_json(facts)
    print_facts(name, {key: value for key, value in facts.items() if key not in ("name", "files")})


@app.command()
def get(name: Name, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Download the files of a data set, its splits and attacked graphs into the user cache.

    Example: gadc data get cora
    """
    sources = data_sources.Sources(root=data_dir, progress=not as_json)
    if name == "ogbn-products":
        loading.read_raw_graph(name, sources)  # the ogb package has its own download
    states = {}
    for path in registry.record(name).all_files:
        states[path] = _fetch(sources, path, name)
        if not as_json:
            typer.echo(f"{path}: {states[path]}")
    missing = [path for path, state in states.items() if state.startswith("missing")]
    if as_json:
        print_json({"name": name, "files": states, "missing": missing})
    elif missing:
        place = sources.places[0] if sources.places else "a folder"
        advice = f"put them under {place}, or set GADC_DATA (or --data-dir) to a folder that has them."
        typer.echo(visible(f"{len(missing)} of {len(states)} files are missing; {advice}"), err=True)
    else:
        typer.echo(f"{name}: complete.")
    raise typer.Exit(1 if missing else 0)


@app.command()
def verify(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Compare the SHA-256 of every known file that is here with the published one.

    Example: gadc data verify
    """
    files = [
        (place / path, path)
        for place in data_sources.Sources(root=data_dir).places
        for path in checksums.known()
    ]
    here = [(file, path) for file, path in files if file.is_file()]
    wrong = []
    for file, path in here:
        try:
            checksums.check(file.read_bytes(), path, str(file))
        except datasets.ChecksumError as error:
            wrong.append({"file": error.file, "expected": error.expected, "got": error.got})
    if as_json:
        print_json({"checked": len(here), "wrong": wrong})
    else:
        for row in wrong:
            say(f"{row['file']}: expected {row['expected']}, got {row['got']}")
        typer.echo(f"{len(here)} known files found, {len(wrong)} differ from the published ones.")
    raise typer.Exit(1 if wrong else 0)


def _fetch(sources: Sources, path: str, name: str) -> str:
    """Download one file unless it is here, and return its state."""
    if sources.peek(path) is not None:
        return "here"
    try:
        return f"got {sources.fetch(path, owner=name).stat().st_size:,} bytes"
    except datasets.DatasetNotFoundError as error:
        return f"missing: {error.__cause__}"


def _describe_own(graph: OwnGraphOptions, as_json: bool) -> None:
    """Print the statistics of a user's graph and what was found in the tables."""
    if graph.graph is not None and packed_graph.is_packed(
        graph.graph
    ):  # its files say all, however large it is
        packed = on_disk.PackedGraph(graph.graph)
        facts, report = packed_facts.statistics(packed), packed.report
    else:
        data = graph.read_own()
        facts, report = datasets.graph_statistics(data), getattr(data, "table_report", None)
    if as_json:
        return print_json({**facts, "report": None if report is None else report.to_dict()})
    print_facts(graph.place, facts)
    if report is not None:
        typer.echo(visible(name_options(report.summary())))
