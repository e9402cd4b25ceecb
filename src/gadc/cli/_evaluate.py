"""`gadc evaluate`: accuracy of a model on nodes whose class is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from gadc._base.deferred import deferred
from gadc.cli._graph_data import check_labels, nodes_in, tell_notes
from gadc.cli._models import ModelFile, class_positions, load_model, predict_probabilities
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.graph import GraphOptions
from gadc.cli._options.output import AsJson, ReportFile, check_report
from gadc.cli._output import command_line, print_facts, print_json, print_rows, say
from gadc.cli._progress import working

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch_geometric.data import Data

    from gadc.estimators import GADCClassifier

with deferred():
    import numpy as np
    import sklearn

    from gadc.cli._pages import model as model_page


@expand_bundles
def evaluate(
    context: typer.Context,
    model: ModelFile,
    graph: GraphOptions,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Measure a model on the labelled nodes of a graph (for a named data set, its test nodes).

    Prints accuracy, macro-F1, log-loss and the confusion matrix.

    Example: gadc evaluate model.safetensors --edges edges.csv --nodes held_out.csv --label kind
    """
    check_report(report)
    classifier = load_model(model)
    with working("Reading the graph"):
        data = check_labels(graph.read_for(classifier))
    tell_notes(data, compare_scales=False)
    classes = classifier.classes_.tolist()
    codes = _true_codes(data, classifier)
    with working("Predicting"):
        facts = _measure(codes, predict_probabilities(classifier, data), len(classes))
    part = "labelled nodes" if nodes_in(data, "test") is None else "test nodes"
    if report is not None:
        shown = {"title": graph.title, "part": part, "data": data, "codes": codes}
        with working("Writing the report"):
            model_page.evaluation_page(command_line(context), **shown, model=classifier, facts=facts).write(
                report
            )
        say(f"Wrote {report}.")
    confusion = facts.pop("confusion")
    if as_json:
        return print_json({"part": part, **facts, "classes": classes, "confusion": confusion})
    print_facts(f"{graph.title}: {facts.pop('nodes'):,} {part}", facts)
    print_rows("Confusion matrix, one column per predicted class", _confusion_rows(classes, confusion))
    if part == "labelled nodes":
        say("note: if the model was fitted on these labels, the figures are too optimistic.")


def _true_codes(data: Data, model: GADCClassifier) -> NDArray[np.int64]:
    """Return the position of each node's class in `classes_`, -1 for nodes that are not evaluated."""
    codes = class_positions(model, data)
    tested = nodes_in(data, "test")
    if tested is not None:
        codes[~tested.numpy()] = -1
    if not (codes >= 0).any():
        raise ValueError("evaluate: no node has a label; name the column with --label.")
    return codes


def _measure(codes: NDArray[np.int64], probability: NDArray[Any], count: int) -> dict[str, Any]:
    judged = codes >= 0
    truth, probability, labels = codes[judged], probability[judged], list(range(count))
    predicted = probability.argmax(1)
    return {
        "nodes": int(judged.sum()),
        "accuracy": float(sklearn.metrics.accuracy_score(truth, predicted)),
        "macro_f1": float(sklearn.metrics.f1_score(truth, predicted, average="macro", zero_division=0)),
        "log_loss": float(sklearn.metrics.log_loss(truth, probability, labels=labels))
        if count > 1
        else 0.0,  # an old model may know one class
        "confusion": sklearn.metrics.confusion_matrix(truth, predicted, labels=labels).tolist(),
    }


def _confusion_rows(classes: list[Any], confusion: list[list[int]]) -> list[dict[str, Any]]:
    names = [str(name) for name in classes]
    return [
        {"true class": name, **dict(zip(names, row, strict=True))}
        for name, row in zip(names, confusion, strict=True)
    ]
