"""The reports of `gadc fit` and `gadc evaluate`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from gadc.cli._output import text
from gadc.cli._predict import class_positions, probabilities
from gadc.cli._run_pages import card, texts
from gadc.estimators import GADCClassifier
from gadc.report._run_evidence import edge_cosines, feature_map, training_curve, wilson_interval
from gadc.report._run_plots import AccuracyBars, Bar, ConfusionMatrix, Picture, TrainingCurves
from gadc.report._run_report import Cell, Comparison, RunReport

_HIDDEN = ("adjacency", "verbose")  # parameters of a model that decide no figure
_CHOSEN = ("lam", "num_steps", "eps", "normalize")  # those that "auto" chooses instead of reading


def fit_page(
    command: str,
    *,
    title: str,
    verdict: str,
    data: Data,
    models: Mapping[str, GADCClassifier],
    figures: Sequence[dict[str, Any]],
) -> RunReport:
    """What `gadc fit` found.

    Args:
        command: As it was given.
        title: What the graph is called.
        verdict: What came of the comparison.
        data: The graph as the model was given it.
        models: The model that is saved, then its controls.
        figures: Its figures and theirs, as printed.
    """
    chosen = next(iter(models.values()))
    codes = class_positions(chosen, data)
    held_out: NDArray[np.bool_] | None = getattr(chosen, "held_out_", None)
    _, seen = _with_features(chosen, lambda: probabilities(chosen, data))
    predicted = np.searchsorted(chosen.classes_, chosen.transduction_)
    curves = [
        training_curve(name, model.trained_) for name, model in models.items() if hasattr(model, "trained_")
    ]
    if held_out is None:
        judged, which = codes >= 0, "labelled nodes, most of them trained on, which flatters"
    else:
        judged, which = held_out, "nodes whose labels were held out"
    pictures: list[Picture] = [
        *_pictures(data, seen, codes, chosen),
        _confusion(codes[judged], predicted[judged], chosen, which),
    ]
    if curves:
        caption = "Dots: the epoch that was kept."
        pictures.append(TrainingCurves(title="Training", caption=caption, curves=tuple(curves)))
    return RunReport(
        title=f"A model of {title}",
        verdict=verdict,
        command=command,
        settings=_settings(chosen),
        card=card(data),
        comparison=_comparison(figures, "Measured on the labels that were held out to choose the epoch."),
        accuracies=_bars(figures, "validation_accuracy", 0 if held_out is None else int(held_out.sum())),
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
    model: GADCClassifier,
    facts: Mapping[str, Any],
) -> RunReport:
    """What `gadc evaluate` found, beside always naming the commonest class.

    Args:
        command: As it was given.
        title: What the graph is called.
        part: Which nodes were judged.
        data: The graph.
        codes: Position of each node's true class; -1 where it is not judged.
        model: The model.
        facts: Its figures, as printed.
    """
    proba, seen = _with_features(model, lambda: probabilities(model, data))
    count = int((codes >= 0).sum())
    commonest = float(np.bincount(codes[codes >= 0]).max() / count)
    right = facts["accuracy"]
    figures: list[dict[str, Any]] = [
        {"model": "the model", **{key: facts[key] for key in ("accuracy", "macro_f1", "log_loss")}},
        {"model": "always the commonest class", "accuracy": commonest, "macro_f1": None, "log_loss": None},
    ]
    judged = codes >= 0
    confusion = _confusion(codes[judged], proba.argmax(1)[judged], model, part)
    return RunReport(
        title=f"How good the model is on {title}",
        verdict=f"{100 * right:.1f} % of {count:,} {part} are classified correctly; always naming the"
        f" commonest class would give {100 * commonest:.1f} %.",
        command=command,
        settings=_settings(model),
        card=card(data),
        comparison=_comparison(figures, f"Measured on {count:,} {part}."),
        accuracies=_bars(figures, "accuracy", count),
        pictures=[confusion, *_pictures(data, seen, codes, model)],
        explanation=_explanation(model),
        notes=("Training curves are in the report of gadc fit; a model file does not hold them.",),
    )


def _with_features(model: GADCClassifier, predict: Callable[[], Any]) -> tuple[Any, Tensor | None]:
    """What is predicted, and what the head saw on the way: S X, whichever S the model has."""
    seen: list[Tensor] = []
    watch = model.head_.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    try:
        return predict(), (seen[0] if seen else None)
    finally:
        watch.remove()


def _settings(model: GADCClassifier) -> dict[str, str]:
    hidden = (*_HIDDEN, *_CHOSEN) if model.variant == "auto" else _HIDDEN
    return texts({name: value for name, value in model.get_params(deep=False).items() if name not in hidden})


def _explanation(model: GADCClassifier) -> str | None:
    """What "auto" picked and why; nothing where nothing was compared."""
    return model.explain_ if model.report_ else None


def _comparison(figures: Sequence[dict[str, Any]], caption: str) -> Comparison:
    first, *measures = figures[0]
    rows = tuple((str(row[first]), tuple(_cell(row[key]) for key in measures)) for row in figures)
    columns = (first, *(key.replace("_", " ") for key in measures))
    return Comparison(columns=columns, rows=rows, caption=f"{caption} A click on a header sorts.")


def _cell(value: float | None) -> Cell:
    if value is not None and math.isnan(value):
        return Cell(text="not measured")
    return Cell(text=text(value), value=value)


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
        caption=f"{len(truth):,} {which}. Strong colour: a large share of that class; blue is right.",
        classes=tuple(map(str, model.classes_.tolist())),
        counts=counts.reshape(count, count),
    )
