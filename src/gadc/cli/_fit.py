"""`gadc fit`: a classifier from a user's labelled nodes, beside what simpler models would have done."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadc.cli._bundles import spread
from gadc.cli._diffusion_options import ClassifierOptions
from gadc.cli._graph_input import GraphInput, class_names, labels_to_fit, tell_notes, without_graph
from gadc.cli._output import AsJson, check_folder, print_json, print_rows, say, working
from gadc.cli._run_pages import ReportFile, check_report, command_line

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from gadc.estimators import GADCClassifier


@spread
def fit(
    context: typer.Context,
    graph: GraphInput,
    diffusion: ClassifierOptions,
    out: Annotated[Path, typer.Option("-o", "--out", help="File of the model, such as model.safetensors.")],
    head: Annotated[str, typer.Option("--head", help="linear or mlp.")] = "linear",
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Train a classifier on the labelled nodes and save it.

    Compares the features alone, plain diffusion, GADC I to IV and label propagation unless --variant names
    one, and says what was picked and why. A fifth of the labels is held out for that and to choose the epoch;
    the figures printed are measured on it. Of a named data set the test labels are never used.

    Example: gadc fit --edges edges.csv --nodes nodes.csv --label kind -o model.safetensors
    """
    check_folder(out)
    if report is not None:
        check_report(report)
    with working("Reading the graph"):
        data = graph.read()
    tell_notes(data)
    seen = labels_to_fit(data)
    known = int((seen.y >= 0).sum())
    if diffusion.unread:
        say(f"note: auto chooses its settings by itself and reads no {', '.join(diffusion.unread)}")
    figures, models = [], _models(diffusion, head, graph.seed)
    for name, (model, uses_graph) in models.items():
        with working(f"Training {name}"):
            model.fit_data(seen if uses_graph else without_graph(seen))
        figures.append(
            {
                "model": name,
                "validation_accuracy": float(model.validation_score_),
                "log_loss": float(model.log_loss_),
            }
        )
    chosen = next(iter(models.values()))[0]
    chosen.save(out)
    verdict = chosen.explain_ if diffusion.variant == "auto" else _verdict(figures)
    if report is not None:
        from gadc.cli._model_pages import fit_page

        shown = {"title": graph.title, "verdict": verdict, "data": seen}
        with working("Writing the report"):
            fitted = {name: model for name, (model, _) in models.items()}
            fit_page(command_line(context), **shown, models=fitted, figures=figures).write(report)
        say(f"Wrote {report}.")
    classes = chosen.classes_.tolist()
    if as_json:
        settings = {**diffusion.settings(), "head": head, "seed": graph.seed}
        facts = {"out": str(out), "labels": known, "classes": classes, "settings": settings}
        reasons = {"explanation": chosen.explain_, "report": chosen.report_}
        return print_json({**facts, "figures": figures, **reasons})
    print_rows(f"{graph.title}: {known:,} labels, {len(classes)} classes", figures)
    say(verdict)
    say(f"Wrote {out}.")


def training_labels(data: "Data") -> list[Any]:
    """The class of each node by its name, None where there is none to train on."""
    names = class_names(data)
    return [None if code < 0 else names[code] for code in labels_to_fit(data).y.tolist()]


def _models(options: ClassifierOptions, head: str, seed: int) -> "dict[str, tuple[GADCClassifier, bool]]":
    """The model that is saved, then its controls, and whether each sees the graph."""
    from gadc.estimators import GADCClassifier

    settings = {**options.settings(), "random_state": seed}
    models = {f"GADC {options.variant}": (GADCClassifier(head=head, **settings), True)}
    if options.variant not in ("auto", "plain"):
        plain = GADCClassifier(head=head, **{**settings, "variant": "plain"})
        models["ε = 0 (plain diffusion)"] = (plain, True)
    mlp = GADCClassifier(head="mlp", dropout=0.5, lr=0.01, **{**settings, "variant": "plain"})
    return {**models, "MLP without the graph": (mlp, False)}


def _verdict(figures: list[dict[str, Any]]) -> str:
    """One line on whether the controls did better; ties go to the model asked for."""
    if math.isnan(figures[0]["validation_accuracy"]):
        return "note: there were too few labels to hold some out, so nothing could be compared."
    best = max(figures, key=lambda row: row["validation_accuracy"])
    if best["validation_accuracy"] > figures[0]["validation_accuracy"]:
        return (
            f"note: {best['model']} did better on the held-out labels; try other settings of the diffusion."
        )
    return "On the held-out labels no control did better."
