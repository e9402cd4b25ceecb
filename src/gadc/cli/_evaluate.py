"""`gadc evaluate`: how good a model is on nodes whose class, number or labels are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from gadc._base.deferred import deferred
from gadc.cli._graph_data import check_labels, nodes_in, tell_notes
from gadc.cli._models import (
    ModelFile,
    class_positions,
    load_any_model,
    named_features,
    predict_probabilities,
)
from gadc.cli._options.bundle import expand_bundles
from gadc.cli._options.graph import GraphOptions
from gadc.cli._options.output import AsJson, Positive, ReportFile, check_report
from gadc.cli._output import command_line, print_facts, print_json, print_rows, say
from gadc.cli._progress import working

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch_geometric.data import Data

    from gadc.estimators import GADCClassifier, GADCMultilabelClassifier, GADCRegressor
    from gadc.report import RunReport

with deferred():
    import numpy as np

    from gadc import estimators
    from gadc.cli import _class_metrics as class_metrics
    from gadc.cli import _target_metrics as target_metrics
    from gadc.cli import _targets as targets
    from gadc.cli._pages import model as model_page
    from gadc.cli._pages import targets as target_page


@expand_bundles
def evaluate(
    context: typer.Context,
    model: ModelFile,
    graph: GraphOptions,
    positive: Positive = None,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Measure a model on the labelled nodes of a graph (for a named data set, its test nodes).

    Classes: accuracy beside the share of the largest class, F1, areas under the precision-recall and the ROC
    curve, log-loss, figures of each class and the confusion matrix; for two classes also a table of
    thresholds. Numbers: R², mean absolute and root mean squared error. Several labels: macro and micro F1.

    Example: gadc evaluate model.safetensors --edges edges.csv --nodes held_out.csv --label kind
    """
    check_report(report)
    fitted = load_any_model(model)
    if isinstance(fitted, estimators.GADCClassifier):
        part, page = _evaluate_classes(
            command_line(context), fitted, graph, positive, report is not None, as_json
        )
    elif positive is not None:
        raise ValueError("--positive: the model does not predict classes; leave it out.")
    elif isinstance(fitted, estimators.GADCRegressor):
        part, page = _evaluate_numbers(command_line(context), fitted, graph, report is not None, as_json)
    else:
        part, page = _evaluate_sets(command_line(context), fitted, graph, report is not None, as_json)
    if report is not None and page is not None:
        with working("Writing the report"):
            page.write(report)
        say(f"Wrote {report}.")
    if part == "labelled nodes" and not as_json:
        say("note: if the model was fitted on these labels, the figures are too optimistic.")


def _evaluate_classes(
    command: str,
    model: GADCClassifier,
    graph: GraphOptions,
    given: str | None,
    wants_page: bool,
    as_json: bool,
) -> tuple[str, RunReport | None]:
    """Measure a classifier and print its figures; return the evaluated part and the page."""
    positive = class_metrics.positive_class(model, given)
    with working("Reading the graph"):
        data = check_labels(graph.read_for(model))
    tell_notes(data, compare_scales=False)
    classes, codes = model.classes_.tolist(), _true_codes(data, model)
    with working("Predicting"):
        probability = predict_probabilities(model, data)
    judged = codes >= 0
    truth, seen = codes[judged], probability[judged]
    facts = class_metrics.measure_classes(truth, seen, len(classes), positive)
    by_class, by_threshold = class_metrics.class_rows(truth, seen, classes), list[dict[str, Any]]()
    if positive is not None and len(classes) == 2:
        by_threshold = class_metrics.threshold_rows(truth == positive, seen[:, positive])
    part = "labelled nodes" if nodes_in(data, "test") is None else "test nodes"
    page = None
    if wants_page:
        shown = {"title": graph.title, "part": part, "data": data, "codes": codes, "positive": positive}
        shown |= {"by_class": by_class, "by_threshold": by_threshold}
        page = model_page.evaluation_page(command, **shown, model=model, probability=probability, facts=facts)
    name = None if positive is None else str(classes[positive])
    confusion = facts.pop("confusion")
    if as_json:
        tables = {"classes": classes, "by_class": by_class, "thresholds": by_threshold}
        print_json({"part": part, **facts, "positive": name, **tables, "confusion": confusion})
        return part, page
    print_facts(f"{graph.title}: {facts.pop('nodes'):,} {part}", facts)
    print_rows("By class", by_class)
    if by_threshold:
        title = f"By threshold: nodes with at least that probability of {name} (expected: by the model)"
        print_rows(title, by_threshold)
    print_rows("Confusion matrix, one column per predicted class", _confusion_rows(classes, confusion))
    return part, page


def _evaluate_numbers(
    command: str, model: GADCRegressor, graph: GraphOptions, wants_page: bool, as_json: bool
) -> tuple[str, RunReport | None]:
    """Measure a regressor and print its figures; return the evaluated part and the page."""
    with working("Reading the graph"):
        data = graph.read_for(model, task="regress")
    tell_notes(data, compare_scales=False)
    truth = targets.known_targets(data)
    judged = ~np.isnan(truth)
    with working("Predicting"), named_features():
        predicted = model.predict_data(data)
    facts = target_metrics.measure_numbers(truth[judged], predicted[judged])
    part, page = "labelled nodes", None
    if wants_page:
        page = target_page.number_evaluation_page(
            command, title=graph.title, data=data, model=model, truth=truth, predicted=predicted, facts=facts
        )
    if as_json:
        print_json({"part": part, **facts})
    else:
        print_facts(f"{graph.title}: {facts.pop('nodes'):,} {part}", facts)
    return part, page


def _evaluate_sets(
    command: str, model: GADCMultilabelClassifier, graph: GraphOptions, wants_page: bool, as_json: bool
) -> tuple[str, RunReport | None]:
    """Measure a multi-label classifier and print its figures; return the evaluated part and the page."""
    with working("Reading the graph"):
        data = graph.read_for(model, task="multilabel", labels=model.label_names_)
    tell_notes(data, compare_scales=False)
    target = targets.known_targets(data)
    judged = ~np.isnan(target).any(1)
    with working("Predicting"):
        probability = predict_probabilities(model, data)[judged]
    truth, predicted = target[judged].astype(int), (probability >= model.thresholds_).astype(int)
    facts = target_metrics.measure_sets(truth, predicted, probability)
    rows = target_metrics.label_rows(truth, predicted, model.label_names_, model.thresholds_)
    part, page = "labelled nodes", None
    if wants_page:
        shown = {"title": graph.title, "data": data, "model": model, "facts": facts, "rows": rows}
        page = target_page.label_evaluation_page(command, **shown, truth=truth, probability=probability)
    if as_json:
        print_json({"part": part, **facts, "by_label": rows})
    else:
        print_facts(f"{graph.title}: {facts.pop('nodes'):,} {part}", facts)
        print_rows("By label, at its threshold", rows)
    return part, page


def _true_codes(data: Data, model: GADCClassifier) -> NDArray[np.int64]:
    """Return the position of each node's class in `classes_`, -1 for nodes that are not evaluated."""
    codes = class_positions(model, data)
    tested = nodes_in(data, "test")
    if tested is not None:
        codes[~tested.numpy()] = -1
    if not (codes >= 0).any():
        raise ValueError("evaluate: no node has a label; name the column with --label.")
    return codes


def _confusion_rows(classes: list[Any], confusion: list[list[int]]) -> list[dict[str, Any]]:
    names = [str(name) for name in classes]
    return [
        {"true class": name, **dict(zip(names, row, strict=True))}
        for name, row in zip(names, confusion, strict=True)
    ]
