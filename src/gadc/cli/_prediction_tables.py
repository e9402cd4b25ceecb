"""Tables of predictions: ids with classes, numbers or labels, and the rows that rank highest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from torch_geometric.data import Data

from gadc.cli._class_metrics import positive_class
from gadc.cli._graph_data import id_column
from gadc.cli._models import named_features, predict_probabilities
from gadc.estimators import GADCClassifier, GADCMultilabelClassifier, GADCRegressor

if TYPE_CHECKING:
    from gadc.cli._graph_data import AnyModel

_RANK = "\0rank"  # a column of the user cannot have this name in a text file


def prediction_table(
    model: AnyModel,
    data: Data,
    *,
    threshold: float | None = None,
    top: int | None = None,
    positive: str | None = None,
    nodes: slice = slice(None),
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return a table with one row per node, and facts about it.

    Args:
        model: The model.
        data: The graph.
        threshold: Probability from which a node gets the positive class, or each label; None is the most
            likely class, or the threshold of each label.
        top: Number of rows to keep, those with the highest probability or number, in this order; None keeps
            all in the order of the nodes.
        positive: Class or label that is looked for; None is the rarer of two classes.
        nodes: Nodes to return; all by default.
    """
    if threshold is not None and not 0 <= threshold <= 1:
        raise ValueError(f"--threshold must lie between 0 and 1, got {threshold:g}.")
    if isinstance(model, GADCRegressor):
        columns, facts, rank = _numbers(model, data, threshold, positive)
    elif isinstance(model, GADCMultilabelClassifier):
        columns, facts, rank = _labels(model, data, threshold, positive)
    else:
        columns, facts, rank = _classes(model, data, threshold, positive)
    if top is not None and rank is None:
        raise ValueError("--top requires --positive NAME: the class or label to rank the nodes by.")
    frame = id_column(data, taken=tuple(columns)).to_frame().hstack(list(columns.values()))[nodes]
    if top is not None and rank is not None:
        ranked = frame.with_columns(pl.Series(_RANK, rank)[nodes])
        frame = ranked.sort(_RANK, descending=True, maintain_order=True).head(top).drop(_RANK)
    return frame, facts(frame)


def looked_for(model: AnyModel, given: str | None) -> str | None:
    """Return the name of the class or label that is looked for; None if there is not just one."""
    if not isinstance(model, GADCClassifier):
        return given
    position = positive_class(model, given)
    return None if position is None else str(model.classes_[position])


def _classes(
    model: GADCClassifier, data: Data, threshold: float | None, given: str | None
) -> tuple[dict[str, pl.Series], Any, NDArray[Any] | None]:
    classes, positive = model.classes_.tolist(), positive_class(model, given)
    if threshold is not None and len(classes) != 2:
        raise ValueError(f"--threshold requires a model of two classes, got {len(classes)}.")
    probability = predict_probabilities(model, data)
    best = probability.argmax(1)
    if threshold is not None and positive is not None:
        best = np.where(probability[:, positive] >= threshold, positive, 1 - positive)
    columns = {
        "class": pl.Series("class", [classes[code] for code in best]),
        "probability": pl.Series("probability", probability[np.arange(len(best)), best]),
        **{f"p_{name}": pl.Series(f"p_{name}", probability[:, code]) for code, name in enumerate(classes)},
    }

    def facts(frame: pl.DataFrame) -> dict[str, Any]:
        counts = frame["class"].value_counts(sort=True).rows()
        found: dict[str, Any] = {"predicted": {str(name): count for name, count in counts}}
        if threshold is not None and positive is not None:
            found |= {"positive": str(classes[positive]), "threshold": threshold}
        return {**found, "mean_probability": frame["probability"].mean()}

    return columns, facts, None if positive is None else probability[:, positive]


def _numbers(
    model: GADCRegressor, data: Data, threshold: float | None, given: str | None
) -> tuple[dict[str, pl.Series], Any, NDArray[Any] | None]:
    for option, value in (("--threshold", threshold), ("--positive", given)):
        if value is not None:
            raise ValueError(f"{option} requires a model of classes or labels, got one of numbers.")
    with named_features():
        predicted = model.predict_data(data)

    def facts(frame: pl.DataFrame) -> dict[str, Any]:
        column = frame["prediction"]
        return {"lowest": column.min(), "mean": column.mean(), "highest": column.max()}

    return {"prediction": pl.Series("prediction", predicted)}, facts, predicted


def _labels(
    model: GADCMultilabelClassifier, data: Data, threshold: float | None, given: str | None
) -> tuple[dict[str, pl.Series], Any, NDArray[Any] | None]:
    names = model.label_names_
    if given is not None and given not in names:
        raise ValueError(f"--positive must be one of {', '.join(names)}, got {given!r}.")
    probability = predict_probabilities(model, data)
    labels = (probability >= (model.thresholds_ if threshold is None else threshold)).astype(np.int64)
    columns = {name: pl.Series(name, labels[:, number]) for number, name in enumerate(names)}
    columns |= {f"p_{name}": pl.Series(f"p_{name}", probability[:, i]) for i, name in enumerate(names)}

    def facts(frame: pl.DataFrame) -> dict[str, Any]:
        return {"predicted": {name: int(frame[name].sum()) for name in names}}

    return columns, facts, None if given is None else probability[:, names.index(given)]
