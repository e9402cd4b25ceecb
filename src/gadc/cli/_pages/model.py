"""Reports of `gadc fit` and `gadc evaluate`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from gadc.cli._models import predict_probabilities
from gadc.cli._output import format_value
from gadc.cli._pages.finalists import finalist_table
from gadc.cli._pages.shared import card, format_facts
from gadc.estimators import GADCClassifier
from gadc.report import (
    AccuracyBars,
    Bar,
    CalibrationPlot,
    Comparison,
    ComparisonCell,
    ConfusionMatrix,
    Picture,
    RunReport,
    TrainingCurves,
    edge_cosines,
    feature_map,
    training_curve,
    wilson_interval,
)
from gadc.report._style import shortened

_HIDDEN = ("adjacency", "verbose")  # parameters that do not change a figure
_MEASURES = ("accuracy", "macro_f1", "pr_auc", "roc_auc", "log_loss")
_CHOSEN = ("lam", "num_steps", "eps", "normalize")  # parameters that "auto" ignores


def fit_page(
    command: str,
    *,
    title: str,
    verdict: str,
    data: Data,
    codes: NDArray[np.int64],
    models: Mapping[str, GADCClassifier],
    figures: Sequence[dict[str, Any]],
) -> RunReport:
    """Build the report of `gadc fit`.

    Args:
        command: The command as it was given.
        title: Name of the graph.
        verdict: Result of the comparison in words.
        data: The graph.
        codes: Position of each node's class; -1 for nodes whose label was not used.
        models: The model that is saved, then its controls.
        figures: The printed figures of these models.
    """
    chosen = next(iter(models.values()))
    held_out: NDArray[np.bool_] | None = getattr(chosen, "held_out_", None)
    _, seen = _with_features(chosen, lambda: predict_probabilities(chosen, data))
    predicted = np.searchsorted(chosen.classes_, chosen.transduction_)
    curves = [
        training_curve(name, model.trained_) for name, model in models.items() if hasattr(model, "trained_")
    ]
    if held_out is None:
        judged, which = codes >= 0, "labelled nodes, most of them training nodes (too optimistic)"
    else:
        judged, which = held_out, "nodes with held-out labels"
    pictures: list[Picture] = [
        *_pictures(data, seen, codes, chosen),
        _confusion(codes[judged], predicted[judged], chosen, which),
    ]
    if curves:
        caption = "Dots: the epoch that was kept."
        pictures.append(TrainingCurves(title="Training", caption=caption, curves=tuple(curves)))
    return RunReport(
        title=f"Classifier for {title}",
        verdict=verdict,
        command=command,
        settings=_settings(chosen),
        card=card(data),
        comparison=finalist_table(chosen)
        or _comparison(figures, "Measured on the labels that were held out to choose the epoch."),
        accuracies=_bars(
            [*figures, _most_common(codes[judged])],
            "validation_accuracy",
            0 if held_out is None else int(held_out.sum()),
        ),
        pictures=pictures,
        explanation=_explanation(chosen),
    )


def evaluation_page(
    command: str,
    *,
    title: str,
    part: str,
    data: Data,
    codes: NDArray[np.int64],
    positive: int | None,
    model: GADCClassifier,
    probability: NDArray[Any],
    facts: Mapping[str, Any],
    by_class: Sequence[dict[str, Any]],
    by_threshold: Sequence[dict[str, Any]] = (),
) -> RunReport:
    """Build the report of `gadc evaluate`, with the most common class as a control.

    Args:
        command: The command as it was given.
        title: Name of the graph.
        part: Which nodes were evaluated, in words.
        data: The graph.
        codes: Position of each node's true class; -1 for nodes that were not evaluated.
        positive: Position of the class whose probabilities are compared with what is true; None for the
            most likely class of each node.
        model: The model.
        probability: Predicted probabilities of all nodes.
        facts: The printed figures of the model.
        by_class: The printed figures of each class.
        by_threshold: The printed figures of each threshold; none by default.
    """
    _, seen = _with_features(model, lambda: predict_probabilities(model, data))
    count, most_common, right = facts["nodes"], facts["largest_class"], facts["accuracy"]
    figures: list[dict[str, Any]] = [
        {"model": "the model", **{key: facts[key] for key in _MEASURES}},
        {"model": "always the most common class", **dict.fromkeys(_MEASURES), "accuracy": most_common},
    ]
    judged = codes >= 0
    confusion = _confusion(codes[judged], probability.argmax(1)[judged], model, part)
    calibration = _calibration(codes[judged], probability[judged], model, positive)
    tables = {"By class": _comparison(by_class, "Measured with the most likely class of each node.")}
    if by_threshold and positive is not None:
        name = shortened(str(model.classes_[positive]), 60)
        caption = f"Nodes with at least that probability of {name}. Expected: by the model."
        tables["By threshold"] = _comparison(by_threshold, caption)
    return RunReport(
        title=f"Accuracy of the model on {title}",
        verdict=f"{100 * right:.1f} % of {count:,} {part} are classified correctly; always predicting the"
        f" most common class would give {100 * most_common:.1f} %.",
        command=command,
        settings=_settings(model),
        card=card(data),
        comparison=_comparison(figures, f"Measured on {count:,} {part}."),
        accuracies=_bars(figures, "accuracy", count),
        tables=tables,
        pictures=[confusion, calibration, *_pictures(data, seen, codes, model)],
        explanation=_explanation(model),
        notes=("Training curves are in the report of gadc fit; a model file does not hold them.",),
    )


def _with_features(model: GADCClassifier, predict: Callable[[], Any]) -> tuple[Any, Tensor | None]:
    """Return the prediction and the input of the head on the way: S X, whatever the variant is."""
    if model.ensemble_ is not None or model.robust is not None:  # they read features of several kinds
        return predict(), None
    seen: list[Tensor] = []
    watch = model.head_.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    try:
        return predict(), (seen[0] if seen else None)
    finally:
        watch.remove()


def _settings(model: GADCClassifier) -> dict[str, str]:
    hidden = (*_HIDDEN, *_CHOSEN) if model.variant == "auto" or model.robust is not None else _HIDDEN
    return format_facts(
        {name: value for name, value in model.get_params(deep=False).items() if name not in hidden}
    )


def _explanation(model: GADCClassifier) -> str | None:
    """Return what "auto" picked and why; None if nothing was compared."""
    return model.explain_ if model.report_ else None


def _comparison(figures: Sequence[dict[str, Any]], caption: str) -> Comparison:
    first, *measures = figures[0]
    rows = tuple((format_value(row[first]), tuple(_cell(row[key]) for key in measures)) for row in figures)
    columns = (first, *(key.replace("_", " ") for key in measures))
    return Comparison(columns=columns, rows=rows, caption=f"{caption} Click a header to sort.")


def _cell(value: float | None) -> ComparisonCell:
    if value is not None and math.isnan(value):
        return ComparisonCell(text="not measured")
    return ComparisonCell(text=format_value(value), value=value)


def _most_common(truth: NDArray[np.int64]) -> dict[str, Any]:
    """Return the figures of the control that always predicts the most common class of some nodes."""
    share = float(np.bincount(truth).max() / len(truth)) if len(truth) else math.nan
    return {"model": "always the most common class", "validation_accuracy": share}


def _bars(figures: Sequence[dict[str, Any]], key: str, count: int) -> AccuracyBars:
    bars = []
    for number, row in enumerate(figures):
        ends = wilson_interval(row[key], count) if count else (None, None)
        low, high = (None if end is None else 100 * end for end in ends)
        bars.append(Bar(label=row["model"], value=100 * row[key], low=low, high=high, control=number > 0))
    interval = f"Lines: 95 % intervals (Wilson) of {count:,} nodes. " if count else ""
    return AccuracyBars(title="Accuracy", caption=f"{interval}Grey: controls.", bars=tuple(bars))


def _pictures(
    data: Data, seen: Tensor | None, codes: NDArray[np.int64], model: GADCClassifier
) -> list[Picture]:
    classes = model.classes_.tolist()
    shown = None if seen is None else feature_map(data.x, seen, torch.from_numpy(codes), classes)
    return [picture for picture in (shown, edge_cosines(data)) if picture is not None]


def _confusion(
    truth: NDArray[np.int64], predicted: NDArray[np.int64], model: GADCClassifier, which: str
) -> ConfusionMatrix:
    count = len(model.classes_)
    counts = np.bincount(truth * count + predicted, minlength=count * count)
    return ConfusionMatrix(
        title="True and predicted classes",
        caption=f"{len(truth):,} {which}. Strong colour: a large share of that class; blue is correct.",
        classes=tuple(map(str, model.classes_.tolist())),
        counts=counts.reshape(count, count),
    )


def _calibration(
    truth: NDArray[np.int64], probability: NDArray[Any], model: GADCClassifier, positive: int | None
) -> CalibrationPlot:
    if positive is None:
        likely, happened = probability.max(1), probability.argmax(1) == truth
        what = "the most likely class of each node"
    else:
        likely, happened = probability[:, positive], truth == positive
        what = f"the class {model.classes_.tolist()[positive]}"
    return CalibrationPlot(
        title="Can the probabilities be trusted?",
        caption=f"Probability of {what}: on the dashed line, 30 % means 30 of 100. Lines: one standard "
        "error. Below: the number of nodes.",
        probability=likely,
        happened=happened.astype(float),
    )
