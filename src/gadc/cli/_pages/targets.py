"""Reports of `gadc fit` and `gadc evaluate` for numbers and for several labels per node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch_geometric.data import Data

from gadc.cli._output import format_value
from gadc.cli._pages.shared import card, format_facts
from gadc.estimators import GADCMultilabelClassifier, GADCRegressor
from gadc.report import (
    AccuracyBars,
    Bar,
    CalibrationPlot,
    Comparison,
    ComparisonCell,
    Picture,
    ResidualPlot,
    RunReport,
    edge_cosines,
)

_HIDDEN = ("adjacency", "verbose")
Floats = NDArray[np.float64]


def number_page(
    command: str,
    *,
    title: str,
    verdict: str,
    data: Data,
    model: GADCRegressor,
    figures: Sequence[Mapping[str, Any]],
    truth: Floats,
    predicted: Floats,
    which: str,
) -> RunReport:
    """Build the page of a regressor: R², errors and residuals.

    Args:
        command: The command as it was given.
        title: Heading.
        verdict: The result in words.
        data: The graph.
        model: The regressor.
        figures: One row per model, the first is the model itself.
        truth: Known number of each node, NaN where it is unknown.
        predicted: Predicted number of each node, NaN where it was not judged.
        which: Which nodes the figures are about, in words.
    """
    judged = ~np.isnan(truth) & ~np.isnan(predicted)
    residuals = ResidualPlot(
        title="Residuals",
        caption=f"{int(judged.sum()):,} {which}. A pattern says what the model misses.",
        predicted=predicted[judged],
        truth=truth[judged],
    )
    bars = tuple(
        Bar(label=str(row["model"]), value=100 * _number(row["r2"]), control=number > 0)
        for number, row in enumerate(figures)
    )
    return RunReport(
        title=title,
        verdict=verdict,
        command=command,
        settings=_settings(model),
        card=card(data),
        comparison=_comparison(figures, f"Measured on {int(judged.sum()):,} {which}."),
        accuracies=AccuracyBars(title="R²", caption="Grey: controls.", bars=bars, measure="R² (%)"),
        pictures=[residuals, *_edges(data)],
        explanation=model.explain_ if model.report_ else None,
    )


def number_evaluation_page(
    command: str,
    *,
    title: str,
    data: Data,
    model: GADCRegressor,
    truth: Floats,
    predicted: Floats,
    facts: Mapping[str, Any],
) -> RunReport:
    """Build the report of `gadc evaluate` for a regressor, with the mean as a control; see `number_page`."""
    figures = [
        {"model": "the model", "r2": facts["r2"], "mae": facts["mae"], "rmse": facts["rmse"]},
        {
            "model": "always the mean",
            "r2": 0.0,
            "mae": facts["mae_of_the_mean"],
            "rmse": facts["rmse_of_the_mean"],
        },
    ]
    verdict = (
        f"The predictions are off by {format_value(facts['mae'])} on average; always predicting the mean "
        f"would be off by {format_value(facts['mae_of_the_mean'])}."
    )
    shown: dict[str, Any] = {"truth": truth, "predicted": predicted, "which": "nodes with a known number"}
    return number_page(
        command,
        title=f"Numbers predicted for {title}",
        verdict=verdict,
        data=data,
        model=model,
        figures=figures,
        **shown,
    )


def label_evaluation_page(
    command: str,
    *,
    title: str,
    data: Data,
    model: GADCMultilabelClassifier,
    facts: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    truth: NDArray[np.int64],
    probability: Floats,
) -> RunReport:
    """Build the report of several labels per node: figures and calibration of each label.

    Args:
        command: The command as it was given.
        title: Name of the graph.
        data: The graph.
        model: The classifier.
        facts: Macro and micro figures.
        rows: Figures of each label.
        truth: Known labels of the judged nodes.
        probability: Predicted probabilities of these nodes.
    """
    bars = tuple(Bar(label=str(row["label"]), value=100 * row["f1"]) for row in rows)
    pictures: list[Picture] = [
        CalibrationPlot(
            title=f"Can the probabilities of {name} be trusted?",
            caption="On the dashed line, 30 % means 30 of 100. Lines: one standard error.",
            probability=probability[:, number],
            happened=truth[:, number].astype(float),
        )
        for number, name in enumerate(model.label_names_[:6])
    ]
    nodes = facts["nodes"]
    return RunReport(
        title=f"Labels predicted for {title}",
        verdict=f"Macro F1 {facts['macro_f1']:.3f} and micro F1 {facts['micro_f1']:.3f} over {len(rows)} "
        f"labels on {nodes:,} nodes with known labels.",
        command=command,
        settings=_settings(model),
        card=card(data),
        comparison=_comparison(rows, "Each label at its own threshold."),
        accuracies=AccuracyBars(title="F1", caption="By label.", bars=bars, measure="F1 (%)"),
        pictures=[*pictures, *_edges(data)],
        explanation=model.explain_ if model.report_ else None,
    )


def _comparison(rows: Sequence[Mapping[str, Any]], caption: str) -> Comparison:
    first, *measures = rows[0]
    cells = tuple((str(row[first]), tuple(_cell(row[key]) for key in measures)) for row in rows)
    columns = (first, *(key.replace("_", " ") for key in measures))
    return Comparison(columns=columns, rows=cells, caption=f"{caption} Click a header to sort.")


def _cell(value: Any) -> ComparisonCell:
    if value is None or value != value:
        return ComparisonCell(text="not measured")
    return ComparisonCell(text=format_value(value), value=float(value))


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _settings(model: GADCRegressor | GADCMultilabelClassifier) -> dict[str, str]:
    params = {name: value for name, value in model.get_params(deep=False).items() if name not in _HIDDEN}
    return format_facts({**params, **(model.chosen_ if model.variant == "auto" else {})})


def _edges(data: Data) -> list[Picture]:
    shown = edge_cosines(data)
    return [] if shown is None else [shown]
