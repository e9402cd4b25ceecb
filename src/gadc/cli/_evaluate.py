"""`gadc evaluate`: how good a model is where the truth is known."""

from typing import TYPE_CHECKING, Any

import typer

from gadc.cli._bundles import spread
from gadc.cli._graph_input import GraphInput, nodes_of, tell_notes
from gadc.cli._output import AsJson, print_facts, print_json, print_rows, say, working
from gadc.cli._predict import ModelFile, class_positions, load_model, probabilities
from gadc.cli._run_pages import ReportFile, check_report, command_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch_geometric.data import Data

    from gadc.estimators import GADCClassifier


@spread
def evaluate(
    context: typer.Context,
    model: ModelFile,
    graph: GraphInput,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Measure a model on the labelled nodes of a graph (of a named data set, on its test nodes).

    Accuracy, macro-F1, log-loss and the confusion matrix.

    Example: gadc evaluate model.safetensors --edges edges.csv --nodes held_out.csv --label kind
    """
    if report is not None:
        check_report(report)
    classifier = load_model(model)
    with working("Reading the graph"):
        data = graph.read()
    tell_notes(data)
    classes = classifier.classes_.tolist()
    codes = _true_codes(data, classifier)
    with working("Predicting"):
        facts = _measure(codes, probabilities(classifier, data), len(classes))
    part = "labelled nodes" if nodes_of(data, "test") is None else "test nodes"
    if report is not None:
        from gadc.cli._model_pages import evaluation_page

        asked = {"title": graph.title, "part": part, "data": data, "codes": codes}
        with working("Writing the report"):
            evaluation_page(command_line(context), **asked, model=classifier, facts=facts).write(report)
        say(f"Wrote {report}.")
    confusion = facts.pop("confusion")
    if as_json:
        return print_json({"part": part, **facts, "classes": classes, "confusion": confusion})
    print_facts(f"{graph.title}: {facts.pop('nodes'):,} {part}", facts)
    rows = zip(classes, confusion, strict=True)
    headed = [
        {"true class": str(name), **dict(zip(map(str, classes), row, strict=True))} for name, row in rows
    ]
    print_rows("Confusion matrix, a column for each predicted class", headed)
    if part == "labelled nodes":
        say("note: where these labels were those of fit, the figures flatter the model.")


def _true_codes(data: "Data", model: "GADCClassifier") -> "NDArray[np.int64]":
    """Return the position of each node's true class in `classes_`, -1 for nodes that are not evaluated."""
    codes = class_positions(model, data)
    tested = nodes_of(data, "test")
    if tested is not None:
        codes[~tested.numpy()] = -1
    if not (codes >= 0).any():
        raise ValueError("evaluate: no node has a label; name their column with --label.")
    return codes


def _measure(codes: "NDArray[np.int64]", proba: "NDArray[np.float64]", count: int) -> dict[str, Any]:
    from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, log_loss

    judged = codes >= 0
    truth, proba, labels = codes[judged], proba[judged], list(range(count))
    predicted = proba.argmax(1)
    return {
        "nodes": int(judged.sum()),
        "accuracy": float(accuracy_score(truth, predicted)),
        "macro_f1": float(f1_score(truth, predicted, average="macro", zero_division=0)),
        "log_loss": float(log_loss(truth, proba, labels=labels)) if count > 1 else 0.0,
        "confusion": confusion_matrix(truth, predicted, labels=labels).tolist(),
    }
