"""`gadc fit`: train a classifier on the labelled nodes of a graph and compare it with controls."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc._base.deferred import deferred
from gadc._base.memory import available_memory, format_bytes
from gadc.cli._graph_data import labels_to_fit, tell_notes, without_graph
from gadc.cli._models import class_positions
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.cluster import ClusterOptions
from gadc.cli._options.diffusion import ClassifierOptions
from gadc.cli._options.graph import GraphOptions
from gadc.cli._options.output import AsJson, ReportFile, check_file, check_report
from gadc.cli._output import command_line, print_json, print_rows, say
from gadc.cli._progress import working, working_until

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data

    from gadc.estimators import GADCClassifier
    from gadc.packed import PackedGraph

with deferred():
    import torch

    from gadc import estimators
    from gadc.cli import _fit_targets as target_fits
    from gadc.cli import _packed_fits as packed_fits
    from gadc.cli import _targets as targets
    from gadc.cli._pages import finalists as finalists_page
    from gadc.cli._pages import model as model_page
    from gadc.packed import _fit as packed_fit


_NO_GRAPH = "MLP without the graph"


@expand_bundles
def fit(
    context: typer.Context,
    graph: GraphOptions,
    diffusion: ClassifierOptions,
    cluster: ClusterOptions,
    out: Annotated[Path, typer.Option("-o", "--out", help="Model file to write, such as model.safetensors.")],
    task: Annotated[
        str,
        typer.Option(
            "--task",
            help="What --label holds: classify (classes), regress (numbers), multilabel (several columns of "
            "0 and 1), or auto (decided by the columns, and said).",
        ),
    ] = "auto",
    head: Annotated[
        str | None,
        typer.Option(
            "--head",
            help="Model on the denoised features: linear or mlp for classes, ridge, huber or mlp for "
            "numbers, logistic or mlp for several labels. Default: the first of these.",
        ),
    ] = None,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Train a model on the labelled nodes of a graph and save it.

    The label may be a class, a number or several columns of 0 and 1 (--task). Numbers and several labels are
    judged by cross-validation, beside the features alone.

    Without --variant, models with and without the graph are compared within --time-budget, and the command
    says which were picked and why. A fifth of the labels is held out for this comparison and to choose the
    epoch; the printed figures are measured on it. The test labels of a named data set are never used.

    A packed graph (--graph FOLDER) that does not fit into --memory is diffused in slabs on disk, and the head
    sees the labelled rows alone; without --variant, variants are then compared on a sample of the graph.

    Example: gadc fit --edges edges.csv --nodes nodes.csv --label kind -o model.safetensors
    """
    check_file(out)
    check_report(report)
    packed = graph.open_packed("standardize")
    if packed is None:
        cluster.check_unused()
    elif cluster.dry_run or packed_fit.fit_bytes(packed) > (cluster.memory_bytes or available_memory()):
        _refuse_report(packed, report, cluster)
        if task not in ("auto", packed.task):
            raise ValueError(f"--task {task}: {packed.path} was packed with --task {packed.task}.")
        _refuse_robust(diffusion, packed.task, in_memory=False)
        if packed.task != "classify":
            return target_fits.fit_packed_targets(
                packed, graph, diffusion, cluster, head=head, out=out, as_json=as_json
            )
        return _fit_packed(packed, diffusion, cluster, out, head or "linear", graph, as_json)
    chosen_task = targets.decide_task(graph, task)
    _refuse_robust(diffusion, chosen_task)
    _check_edge_settings(graph, diffusion, chosen_task)
    if packed is not None and packed.directed:
        graph = replace(graph, directed=True)
    if chosen_task != "classify":
        options: dict[str, Any] = {
            "task": chosen_task,
            "head": head,
            "out": out,
            "report": report,
            "as_json": as_json,
        }
        return target_fits.fit_targets(command_line(context), graph, diffusion, **options)
    _fit_classes(command_line(context), graph, diffusion, head or "linear", out, report, as_json)


def _fit_classes(
    command: str,
    graph: GraphOptions,
    diffusion: ClassifierOptions,
    head: str,
    out: Path,
    report: Path | None,
    as_json: bool,
) -> None:
    """Fit the model, and models to compare it with, to a graph in memory."""
    with working("Reading the graph"):
        data = graph.read(keep_sparse=diffusion.is_auto and report is None)
    tell_notes(data)
    seen = labels_to_fit(data)
    _tell_ignored(diffusion, head)
    models = _models(diffusion, head, graph)
    for name, model in models.items():
        seconds = model.time_budget if model.variant == "auto" and model.robust is None else None
        with working_until(f"Training {name}", seconds) as tell:
            model.fit_data(without_graph(seen) if name == _NO_GRAPH else seen, tell=tell)
    figures = [_figures(name, model) for name, model in models.items()]
    chosen = next(iter(models.values()))
    chosen.save(out)
    verdict = chosen.explain_ if diffusion.is_auto else _verdict(figures)
    if report is not None:
        shown = {
            "title": graph.title,
            "verdict": verdict,
            "data": data,
            "codes": class_positions(chosen, seen),
        }
        with working("Writing the report"):
            model_page.fit_page(command, **shown, models=models, figures=figures).write(report)
        say(f"Wrote {report}.")
    if as_json:
        return print_json(_facts(graph, diffusion, head, out, seen, chosen) | {"figures": figures})
    _tell_fitted(graph, seen, chosen, figures)
    say(verdict)
    say(f"Wrote {out}.")


def _facts(
    graph: GraphOptions,
    diffusion: ClassifierOptions,
    head: str,
    out: Path,
    seen: Data,
    chosen: GADCClassifier,
) -> dict[str, Any]:
    """Return what --json prints of a model that was fitted in memory."""
    return {
        "out": str(out),
        "labels": int((seen.y >= 0).sum()),
        "classes": chosen.classes_.tolist(),
        "settings": {**diffusion.settings(), "signed": graph.signed, "head": head, "seed": graph.seed},
        "largest_class": _largest(seen.y),
        "relations": chosen.relation_weights_,
        "explanation": chosen.explain_,
        "report": chosen.report_,
    }


def _tell_fitted(
    graph: GraphOptions, seen: Data, chosen: GADCClassifier, figures: list[dict[str, Any]]
) -> None:
    """Print the figures of the models and what led to the choice."""
    known, largest = int((seen.y >= 0).sum()), f"the largest has {_largest(seen.y):.1%} of the labels"
    print_rows(f"{graph.title}: {known:,} labels, {len(chosen.classes_)} classes; {largest}", figures)
    finalists = finalists_page.finalist_rows(chosen)
    if finalists:
        print_rows(
            f"Finalists, compared by {finalists_page.metric_name(chosen)}", finalists, wrap="candidate"
        )
    if chosen.relation_weights_ is not None:
        say(chosen.explain_)


def _check_edge_settings(graph: GraphOptions, diffusion: ClassifierOptions, task: str) -> None:
    """Refuse signs and relations where the models cannot read them."""
    if graph.relation is not None and task != "classify":
        raise ValueError(f"--relation cannot be used with --task {task}: only classifiers weigh relations.")
    if task != "classify" or diffusion.variant != "auto":
        return
    if graph.signed:
        raise ValueError(
            "--signed requires --variant plain, I, II, III or IV: models of auto need weights >= 0."
        )
    if graph.relation is not None:
        raise ValueError("--relation requires a --variant, such as plain: models of auto read one relation.")


def _refuse_report(graph: PackedGraph, report: Path | None, cluster: ClusterOptions) -> None:
    if report is not None:
        room = cluster.memory_bytes or available_memory()
        raise ValueError(
            f"--report needs the graph in memory, about {format_bytes(packed_fit.fit_bytes(graph))}, and "
            f"{format_bytes(room)} are allowed; leave it out, or raise --memory."
            if not cluster.dry_run
            else "--report and --dry-run cannot be used together."
        )


def _fit_packed(
    graph: PackedGraph,
    diffusion: ClassifierOptions,
    cluster: ClusterOptions,
    out: Path,
    head: str,
    options: GraphOptions,
    as_json: bool,
) -> None:
    """Fit a graph that does not fit into memory, and compare it with an MLP on the labelled rows."""
    settings = {**diffusion.settings(), "random_state": options.seed}
    model = estimators.GADCClassifier(head=head, directed=graph.directed, **settings)
    how = {"standardize": bool(options.standardize), "as_json": as_json}
    if not packed_fits.fit_packed(graph, model, cluster, **how):
        return
    model.save(out)
    alone = estimators.GADCClassifier(head="mlp", dropout=0.5, lr=0.01, **{**settings, "variant": "plain"})
    with working(f"Training {_NO_GRAPH}"):
        alone.fit_data(packed_fit.labelled_rows(graph, model.feature_preparation_))
    figures = [_figures(f"GADC {model.variant}", model), _figures(_NO_GRAPH, alone)]
    known = int((packed_fit.labelled_rows(graph).y >= 0).sum())
    classes = model.classes_.tolist()
    if as_json:
        facts = {"out": str(out), "labels": known, "classes": classes, "settings": model.get_params()}
        facts["settings"].pop("adjacency")
        reasons = {"explanation": model.explain_, "report": model.report_}
        return print_json({**facts, "figures": figures, **reasons})
    largest = f"the largest has {_largest(packed_fit.labelled_rows(graph).y):.1%} of the labels"
    print_rows(f"{graph.path}: {known:,} labels, {len(classes)} classes; {largest}", figures)
    say(model.explain_ if diffusion.variant == "auto" else _verdict(figures))
    say(f"Wrote {out}.")


def _refuse_robust(options: ClassifierOptions, task: str, *, in_memory: bool = True) -> None:
    """Refuse --robust where it has no meaning."""
    if options.robust is not None and task != "classify":
        raise ValueError(f"--robust is for classes, got --task {task}.")
    if options.robust is not None and not in_memory:
        raise ValueError("--robust needs the graph in memory; raise --memory, or leave it out.")


def _models(options: ClassifierOptions, head: str, graph: GraphOptions) -> dict[str, GADCClassifier]:
    """Return the model that is saved, then its controls."""
    settings = {**options.settings(), "signed": graph.signed, "directed": graph.directed}
    settings["random_state"] = graph.seed
    name = f"GADC {options.variant}" if options.robust is None else f"robust ({options.robust})"
    models = {name: estimators.GADCClassifier(head=head, **settings)}
    if options.is_auto:  # its candidates are the controls
        return models
    plain = {**settings, "variant": "plain", "robust": None}
    if options.variant != "plain" or options.robust is not None:
        models["ε = 0 (plain diffusion)"] = estimators.GADCClassifier(head=head, **plain)
    mlp = estimators.GADCClassifier(head="mlp", dropout=0.5, lr=0.01, **plain)
    return {**models, _NO_GRAPH: mlp}


def _tell_ignored(options: ClassifierOptions, head: str) -> None:
    """Name the options that have no effect."""
    ignored = ", ".join(options.ignored(head=head != "linear"))
    if ignored and options.robust is not None:
        say(f"note: the robust model has its own settings and ignores {ignored}")
    elif ignored and options.variant == "auto":
        say(f"note: auto chooses its own settings and ignores {ignored}")
    elif ignored:
        say(f"note: variant {options.variant} is not compared with other models and ignores {ignored}")


def _figures(name: str, model: GADCClassifier) -> dict[str, Any]:
    return {
        "model": name,
        "validation_accuracy": float(model.validation_score_),
        "log_loss": float(model.log_loss_),
    }


def _largest(y: Tensor) -> float:
    """Return the share of the largest class, which always predicting it would get right."""
    return float(torch.bincount(y[y >= 0]).max() / (y >= 0).sum())


def _verdict(figures: list[dict[str, Any]]) -> str:
    """Say in one line whether a control is better; a tie counts for the requested model."""
    if math.isnan(figures[0]["validation_accuracy"]):
        return "note: there are too few labels to hold some out, so nothing was compared."
    best = max(figures, key=lambda row: row["validation_accuracy"])
    if best["validation_accuracy"] > figures[0]["validation_accuracy"]:
        return f"note: {best['model']} is better on the held-out labels; try other settings of the diffusion."
    return "No control is better on the held-out labels."
