"""`gadc predict`: classes and probabilities of the nodes of a graph, with their ids."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc.cli._graph_data import tell_notes
from gadc.cli._models import ModelFile, load_any_model
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.cluster import ClusterOptions
from gadc.cli._options.graph import GraphOptions, refuse_for_packed
from gadc.cli._options.output import (
    AsJson,
    EscapeFormulas,
    Positive,
    SummaryFile,
    TableOrFolderOut,
    check_report,
    check_table_path,
    refuse_pipe,
)
from gadc.cli._output import command_line, print_facts, print_json, write_table
from gadc.cli._progress import working

if TYPE_CHECKING:
    from gadc.packed import PackedGraph

with deferred():
    from gadc import packed
    from gadc.cli import _added_nodes as added_nodes
    from gadc.cli import _prediction_tables as prediction_tables
    from gadc.cli import _targets as targets
    from gadc.cli._pages import summary as summary_pages
    from gadc.packed import _plan as planning
    from gadc.packed import _predict as packed_predict

AddNodes = Annotated[
    Path | None,
    typer.Option(
        "--add-nodes",
        help="Table of new nodes beside --nodes, with the same columns; only these are written. Needs "
        "--add-edges.",
    ),
]
AddEdges = Annotated[
    Path | None,
    typer.Option("--add-edges", help="Table of the edges of the new nodes, with the columns of --edges."),
]


@expand_bundles
def predict(
    context: typer.Context,
    model: ModelFile,
    graph: GraphOptions,
    out: TableOrFolderOut,
    cluster: ClusterOptions,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            help="Probability from which a node gets the positive class (two classes), or a label. Default: "
            "the most likely class, or the threshold that fit chose for the label.",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            min=1,
            help="Write this many nodes only, those with the highest probability or number, in this order.",
        ),
    ] = None,
    positive: Positive = None,
    add_nodes: AddNodes = None,
    add_edges: AddEdges = None,
    summary: SummaryFile = None,
    escape_formulas: EscapeFormulas = False,
    as_json: AsJson = False,
) -> None:
    """Predict the class, number or labels of every node of a graph.

    The graph is the graph of `gadc fit` or another graph with the same feature columns. The model file says
    how features are computed (columns, categories, fill values, scales), so --features, --categorical,
    --missing and --standardize are not needed again. On a packed graph (--graph FOLDER) the work is done in
    tasks, on several processes or machines with --cluster; the same command resumes after an interruption.

    Example: gadc predict model.safetensors --edges edges.csv --nodes nodes.csv -o predictions.parquet
    """
    packed_graph = graph.packed
    if packed_graph is not None:
        given = {"--threshold": threshold, "--top": top, "--positive": positive, "--add-nodes": add_nodes}
        given |= {"--summary": summary}
        refuse_for_packed({name: value is not None for name, value in given.items()})
        return _predict_packed(model, packed_graph, out, cluster, escape_formulas, as_json)
    cluster.check_unused()
    check_table_path(out, escape_formulas=escape_formulas)
    check_report(summary, "--summary")
    if (add_nodes is None) != (add_edges is None):
        raise ValueError("Use --add-nodes and --add-edges together.")
    fitted = load_any_model(model)
    with working("Reading the graph"):
        keep_rows = summary is not None and add_nodes is None
        data = graph.read_for(fitted, keep_rows=keep_rows, **targets.task_of(fitted))
    tell_notes(data, compare_scales=False)
    wanted = slice(None)
    if add_nodes is not None and add_edges is not None:
        wanted = slice(int(data.num_nodes), None)
        data = added_nodes.add_nodes(graph, fitted, data, add_nodes, add_edges)
    with working("Predicting"):
        frame, found = prediction_tables.prediction_table(
            fitted, data, threshold=threshold, top=top, positive=positive, nodes=wanted
        )
    write_table(frame, out, escape_formulas=escape_formulas)
    facts: dict[str, Any] = {"out": str(out), "nodes": len(frame), **found}
    if summary is not None:
        with working("Writing the summary"):
            named = prediction_tables.looked_for(fitted, positive)
            page = summary_pages.summary_page(
                command_line(context),
                title=graph.title,
                data=data,
                model=fitted,
                frame=frame,
                positive=named,
                seed=graph.seed,
            )
            page.write(summary)
        facts["summary"] = str(summary)
    if as_json:
        return print_json(facts)
    print_facts(f"{graph.title}, predicted", facts)


def _predict_packed(
    model: Path, graph: PackedGraph, out: Path, cluster: ClusterOptions, escape_formulas: bool, as_json: bool
) -> None:
    """Predict the classes, numbers or labels of a packed graph in tasks."""
    refuse_pipe(out)
    refuse_for_packed({"--escape-formulas": escape_formulas})
    classifier = load_any_model(model)
    if classifier.ensemble_ is None and classifier.robust is None:
        folder = cluster.work_folder(out)
        run = packed_predict.prediction_run(graph, classifier, folder, memory=cluster.task_memory())
        if cluster.dry_run:
            return cluster.print_plan(
                "predict", run, packed_predict.prediction_stages(run, model), as_json=as_json
            )
        planning.check_peak_memory("predict", run, cluster.memory_bytes)
    elif cluster.dry_run:
        raise ValueError(
            "--dry-run: a model that is robust or of variant auto is applied in memory, without stages."
        )
    with cluster.running() as how:
        facts = packed.predict(graph, classifier, out, **how)
    if as_json:
        return print_json(facts)
    print_facts(f"{graph.path}, predicted", facts)
