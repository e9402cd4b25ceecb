"""`gadc edges`: the edges of a graph as a table, the least trusted first."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc._base.memory import available_memory, format_bytes
from gadc.cli._graph_data import id_column, labels_to_fit, tell_notes
from gadc.cli._models import load_model
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.cluster import ClusterOptions
from gadc.cli._options.graph import GraphOptions
from gadc.cli._options.names import SCORES
from gadc.cli._options.output import AsJson, EscapeFormulas, check_table_path, refuse_pipe
from gadc.cli._output import print_facts, print_json, print_rows, say, write_table
from gadc.cli._progress import working

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data

    from gadc.estimators import GADCClassifier
    from gadc.packed import PackedGraph

with deferred():
    import polars as pl

    from gadc import datasets, estimators, packed, robustness
    from gadc.datasets.tables import _from_tables as table_reading
    from gadc.packed import _edges as packed_edges
    from gadc.packed import _fit as packed_fit
    from gadc.packed import _plan as planning


_NUM_SHOWN = 10
_NUM_PACKED = 10_000


@expand_bundles
def edges(
    graph: GraphOptions,
    cluster: ClusterOptions,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Table to write (.parquet, .csv or .feather; - prints CSV)."),
    ] = None,
    score: Annotated[
        str,
        typer.Option("--score", help=f"Score by which edges are ranked: {', '.join(SCORES)}."),
    ] = "combined",
    model: Annotated[
        Path | None,
        typer.Option(
            "--model", help="Model file of `gadc fit` for the effects; without it a simple model is fitted."
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", min=1, help="Number of edges to list. Default: all; of a packed graph, the first 10,000."
        ),
    ] = None,
    effects: Annotated[
        int, typer.Option("--effects", min=0, help="Number of first edges whose effect is computed.")
    ] = 100,
    truth: Annotated[
        Path | None,
        typer.Option("--truth", help="Table of edges known to be false, to judge the score by."),
    ] = None,
    new: Annotated[
        Path | None,
        typer.Option(
            "--new", help="Table of proposed edges; these are ranked against the graph instead of its own."
        ),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    as_json: AsJson = False,
) -> None:
    """Rank the edges of a graph by how little they can be trusted, the most suspicious first.

    The table has one row per row of the edge table, in its direction, with its row number and its other
    columns (for a named data set, one row per edge). It holds the rank, both ids, cosine of the features,
    weight before and after GADC (IV), score, and the probability that the edge is false (if false edges look
    like random ones). For the first --effects edges it also has the change of the probability of the
    predicted class at either end if that edge alone were removed (by --model, or by plain diffusion fitted to
    the labels). Where false edges are known (--truth, an attacked data set, or --noise edge-addition), a
    column marks them, and the command prints how well the score finds them.

    With --new, proposed edges are ranked instead, before they are accepted: the table tells the share of the
    graph's own edges that look worse (place), and for the first --effects edges how far each would move the
    diffused features and of how many nodes.

    On a packed graph (--graph FOLDER) the work is done in tasks, and only the --top edges are listed, without
    effects; probabilities are calibrated on a sample of random pairs. With --model a packed graph is read
    into memory, if it fits.

    Example: gadc edges --edges edges.csv --nodes nodes.csv -o suspicious.parquet
    """
    check_table_path(out, escape_formulas=escape_formulas)
    graph.refuse_signs("gadc edges", "its scores take similar ends for a sign of a right edge")
    if new is not None:
        cluster.check_unused()
        return _new_edges(graph, new, out, score, top, effects, escape_formulas, as_json)
    opened = graph.open_packed(*(() if truth is None else ("source", "target")))
    if opened is not None and (model is None or not _fits_for_effects(opened, cluster)):
        return _packed_edges(
            graph, opened, cluster, out, score, top or _NUM_PACKED, truth, escape_formulas, as_json
        )
    if opened is None:
        cluster.check_unused()
    fitted = None if model is None or not effects else load_model(model)
    with working("Reading the graph"):
        data = graph.read(keep_rows=True) if fitted is None else graph.read_for(fitted, keep_rows=True)
    tell_notes(data, compare_scales=fitted is None)
    classifier = (fitted or _simple_classifier(data, graph.seed)) if effects else None
    known = None if truth is None else _read_truth(truth, data, graph)
    with working("Scoring the edges"):
        table = robustness.suspicious_edges(
            data, classifier, score=score, num_effects=effects, known_false=known, seed=graph.seed
        )
    if top is not None:
        table = table.filter(pl.col("rank") <= top)
    once = table.unique("rank", keep="first", maintain_order=True)
    facts = {"out": None if out is None else str(out), "edges": len(once), "rows": len(table), "score": score}
    facts |= _quality(once, known)
    if out is not None:
        write_table(_with_other_columns(table, data, graph), out, escape_formulas=escape_formulas)
    if as_json:
        return print_json({**facts, "first": table.head(_NUM_SHOWN).to_dicts()})
    print_facts(graph.title, facts)
    _print_first(table, ("row", *robustness.edges._table.end_names(data)))


def _new_edges(
    graph: GraphOptions,
    new: Path,
    out: Path | None,
    score: str,
    top: int | None,
    num_impacts: int,
    escape_formulas: bool,
    as_json: bool,
) -> None:
    """Rank proposed edges against the graph that they want to join."""
    with working("Reading the graph"):
        data = graph.read()
    tell_notes(data)
    proposed = _read_truth(new, data, graph)
    with working("Scoring the proposed edges"):
        table = robustness.rank_new_edges(
            data, proposed, score=score, num_impacts=num_impacts, seed=graph.seed
        )
    facts: dict[str, Any] = {"out": None if out is None else str(out), "proposed": proposed.shape[1]}
    facts |= {"new": len(table), "already_in_graph": proposed.shape[1] - len(table), "score": score}
    facts["expected_false"] = float(table["probability"].sum())
    table = table if top is None else table.head(top)
    if out is not None:
        write_table(table, out, escape_formulas=escape_formulas)
    first = table.head(_NUM_SHOWN).with_columns(pl.col("source", "target").cast(str))
    if as_json:
        return print_json({**facts, "first": first.to_dicts()})
    print_facts(graph.title, facts)
    print_rows("The least trusted of the proposed edges", first.to_dicts())


def _packed_edges(
    graph: GraphOptions,
    opened: PackedGraph,
    cluster: ClusterOptions,
    out: Path | None,
    score: str,
    top: int,
    truth: Path | None,
    escape_formulas: bool,
    as_json: bool,
) -> None:
    """List the least trusted edges of a packed graph."""
    refuse_pipe(out)
    known = (
        None
        if truth is None
        else packed_edges.read_pairs(opened, truth, source=graph.source, target=graph.target)
    )
    with ExitStack() as stack:
        folder = cluster.workdir or (None if out is None else str(cluster.work_folder(out)))
        if folder is None:
            folder = stack.enter_context(TemporaryDirectory(prefix="gadc-edges-"))
        run = packed_edges.make_edge_run(opened, folder, memory=cluster.task_memory())
        if cluster.dry_run:
            stages = packed_edges.edge_stages(run, score=score, top=top, seed=graph.seed)
            return cluster.print_plan("edges", run, stages, as_json=as_json)
        planning.check_peak_memory("edges", run, cluster.memory_bytes)
        with cluster.running() as how:
            how.pop("workdir")
            how |= {"score": score, "seed": graph.seed, "known_false": known}
            found = packed.suspicious_edges(opened, folder, top=top, **how)
        if out is not None:
            write_table(found.table, out, escape_formulas=escape_formulas)
        if cluster.workdir is None:
            shutil.rmtree(folder, ignore_errors=True)
    facts: dict[str, Any] = {"out": None if out is None else str(out), "edges": found.num_edges}
    facts |= {"rows": len(found.table), "score": score, "expected_false": found.expected_false}
    facts |= found.quality
    if as_json:
        return print_json({**facts, "first": found.table.head(_NUM_SHOWN).to_dicts()})
    print_facts(graph.title, facts)
    _print_first(found.table, tuple(found.table.columns[1:3]))


def _fits_for_effects(graph: PackedGraph, cluster: ClusterOptions) -> bool:
    """Return True if effects of edges can be computed in memory; refuse what cannot be done."""
    if cluster.cluster or cluster.workdir or cluster.dry_run:
        raise ValueError(
            "--model: effects of edges are computed in memory, without --cluster, --workdir and --dry-run."
        )
    needed, room = packed_fit.fit_bytes(graph), cluster.memory_bytes or available_memory()
    if needed > room:
        raise ValueError(
            f"--model: effects of edges need the graph in memory, about {format_bytes(needed)}, and "
            f"{format_bytes(room)} are allowed; leave out --model, or raise --memory."
        )
    return True


def _print_first(table: pl.DataFrame, ends: tuple[str, ...]) -> None:
    shown = table.head(_NUM_SHOWN).drop("weight_before", "weight_after")
    named = [name for name in ends if name in shown.columns]
    shown = shown.with_columns(shown[name].cast(str) for name in named)  # ids are not amounts
    print_rows("The least trusted edges", shown.to_dicts())


def _with_other_columns(table: pl.DataFrame, data: Data, graph: GraphOptions) -> pl.DataFrame:
    """Append the other columns of the user's edge table, under other names where a name is taken."""
    if graph.edges is None or "row" not in table.columns:
        return table
    columns = data.table_report.columns
    known = (columns["source"], columns["target"])
    names, others = table_reading.read_other_columns(graph.edges, known, graph.csv_options)
    others = table.select("row").join(others, on="row", how="left", maintain_order="left").drop("row")
    for name, column in zip(names, others, strict=True):
        free = name
        while free in table.columns:
            free += "_"
        table = table.with_columns(column.alias(free))
    return table


def _read_truth(path: Path, data: Data, graph: GraphOptions) -> Tensor:
    """Read the pairs known to be false, shape (2, k)."""
    nodes = pl.DataFrame({"id": id_column(data)})
    listed = datasets.from_tables(path, nodes, source=graph.source, target=graph.target, node_id="id")
    return robustness.edges.undirected_pairs(listed.edge_index, int(data.num_nodes))


def _quality(table: pl.DataFrame, known: Tensor | None) -> dict[str, Any]:
    """Count the edges that are expected and known to be false, and measure how well the score finds them."""
    quality: dict[str, Any] = {"expected_false": float(table["probability"].sum())}
    if "known_false" in table.columns:
        count = int(table["known_false"].sum())
        quality["known_false"] = count
        quality["known_false_not_in_graph"] = 0 if known is None else known.shape[1] - count
        quality |= robustness.edges.detection_quality(
            table["score"].to_torch(), table["known_false"].to_torch()
        )
    return quality


def _simple_classifier(data: Data, seed: int) -> GADCClassifier | None:
    """Fit plain diffusion to the labels: it trusts all edges, so it shows their harm."""
    if data.y is None or not (data.y >= 0).any():
        say("note: no effects on predictions, because there is neither --model nor a label")
        return None
    simple = estimators.GADCClassifier(variant="plain", lam=4.0, num_steps=4, random_state=seed)
    with working("Training plain diffusion"):
        return simple.fit_data(labels_to_fit(data))
