"""`gadc pack`: tables of any size as a graph on disk, which the other commands map."""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc._base.text import visible
from gadc.cli._options.cluster import CLUSTER, print_stages
from gadc.cli._options.output import AsJson, check_folder
from gadc.cli._options.own_graph_texts import (
    Categorical,
    Decimal,
    Encoding,
    Exclude,
    Features,
    Label,
    Missing,
    NodeId,
    Separator,
    Source,
    Target,
    Unknown,
    Weight,
)
from gadc.cli._options.texts import make_csv_options, split_names
from gadc.cli._output import print_facts, print_json, say
from gadc.cli._progress import staging

if TYPE_CHECKING:
    from gadc.packed import PackedGraph

with deferred():
    from gadc import packed
    from gadc._base import tasks
    from gadc.datasets.tables import _dialect as dialect
    from gadc.datasets.tables import _files as file_kinds
    from gadc.packed import _pack as packed_pack
    from gadc.packed import _plan as planning


_TABLES = "file, folder of files, or pattern such as 'edges-*.parquet'; can be repeated."


def pack(
    edges: Annotated[list[str], typer.Option("--edges", help=f"Edge table: {_TABLES}")],
    nodes: Annotated[list[str], typer.Option("--nodes", help=f"Node table: {_TABLES}")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write, new or empty.")],
    cluster: Annotated[str | None, typer.Option("--cluster", help=CLUSTER)] = None,
    memory: Annotated[str, typer.Option("--memory", help="Peak memory of one process, such as 8GB.")] = "8GB",
    source: Source = None,
    target: Target = None,
    weight: Weight = None,
    node_id: NodeId = None,
    label: Label = None,
    task: Annotated[
        str, typer.Option("--task", help="What --label holds: classify, regress or multilabel.")
    ] = "classify",
    features: Features = None,
    exclude: Exclude = None,
    categorical: Categorical = None,
    missing: Missing = None,
    unknown: Unknown = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    directed: Annotated[
        bool, typer.Option("--directed", help="Keep the edges as listed. Default: in both directions.")
    ] = False,
    dtype: Annotated[
        str, typer.Option("--dtype", help="Features on disk: float32, or float16 for half the space.")
    ] = "float32",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace another packed graph in the folder.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print stages, tasks, bytes, time, memory and disk, and do nothing."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write tables of any size as a graph on disk, for --graph FOLDER of the other commands.

    The tables are read piece by piece within --memory; the forecast is printed first. The same command
    resumes after an interruption, and the folder is a graph only when everything is done. A folder that holds
    the graph of other tables or settings is refused without --overwrite. With --cluster, tables and folder
    must be visible to all workers under the same names.

    Example: gadc pack --edges edges.parquet --nodes nodes.parquet -o graph/
    """
    check_folder(out)
    tables = _files(edges, "--edges"), _files(nodes, "--nodes")
    chosen: dict[str, Any] = {
        "source": source,
        "target": target,
        "weight": weight,
        "node_id": node_id,
        "label": split_names(label) or None,
        "task": task,
        "features": tuple(split_names(features)) or None,
        "exclude": tuple(split_names(exclude)),
        "categorical": categorical or "skip",
        "missing": missing or "error",
        "unknown": unknown or "error",
        "directed": directed,
        "dtype": dtype,
        "csv_options": make_csv_options(separator, encoding, decimal),
    }
    if dry_run:
        plan = packed_pack.plan_pack(*tables, out, memory=memory, overwrite=overwrite, **chosen)
        say(f"forecast: {plan.summary()}")
        stages, disk = planning.plan_packing(plan.tasks), plan.disk + plan.work
        return print_stages("pack", stages, plan.memory, disk=disk, as_json=as_json)
    with tasks.open_executor(cluster) as executor, staging() as tell:
        graph = packed.pack(
            *tables,
            out,
            memory=memory,
            executor=executor,
            progress=tell,
            forecast=lambda expected: say(f"forecast: {expected.summary()}"),
            overwrite=overwrite,
            **chosen,
        )
    facts = _facts(graph)
    report = graph.report
    if as_json:
        return print_json({**facts, "report": None if report is None else report.to_dict()})
    print_facts(f"{out}, packed", facts)
    if report is not None:
        typer.echo(visible(report.summary()))


def _files(given: list[str], option: str) -> list[Path]:
    """Return the files that names, folders and patterns stand for, in the order of their names."""
    files: list[Path] = []
    for text in given:
        path = Path(text)
        if path.is_dir():
            found = [
                one
                for one in sorted(path.iterdir())
                if dialect.file_suffix(one) in (*dialect.TEXT, *file_kinds.BINARY)
            ]
        elif path.exists():
            found = [path]
        else:
            found = [Path(one) for one in sorted(glob(text))]
        if not found:
            raise ValueError(f"{option} must name tables that exist, got {text!r}.")
        files += found
    return files


def _facts(graph: PackedGraph) -> dict[str, object]:
    known = graph.manifest
    return {
        "out": str(graph.path),
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "directed": graph.directed,
        "weighted": known.weighted,
        "features": graph.num_features,
        "classes": len(known.class_names or ()),
        "ids": known.ids,
        "bytes": sum(note.size for note in known.files.values()),
    }
