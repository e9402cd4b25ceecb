"""How good a model is, in words, beside the share of the largest class."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from gadc.cli._output import format_value
from gadc.estimators import GADCClassifier, GADCMultilabelClassifier, GADCRegressor
from gadc.report import PlainSection, PlainTable, cases_in_words
from gadc.report._style import shortened

if TYPE_CHECKING:
    from gadc.cli._graph_data import AnyModel

_TITLE = "How good the model is"
_LETTERS = 60  # of the name of a class
_UNKNOWN = "How often the model is right was not measured: there were too few known answers."
_ASIDE = "These are answers that were kept aside while the model learned, and compared with its own."
_ELSEWHERE = (
    "How often the model is right is not in its file. Measure it on tables with known answers that it did "
    "not learn from."
)


def quality_section(model: AnyModel, data: Data) -> PlainSection:
    """Say how often the model is right, and how often the simplest rule is; the last text is the verdict.

    Args:
        model: The model.
        data: The graph; its known answers are used if it is the graph that the model was fitted on and the
            model predicted each of them without having seen it.
    """
    if isinstance(model, GADCClassifier):
        return _classes(model)
    truth = _unseen_truth(model, data)
    if truth is None:
        return PlainSection(title=_TITLE, texts=[_ELSEWHERE])
    if isinstance(model, GADCRegressor):
        return _numbers(model, truth)
    return _labels(model, truth)


def _classes(model: GADCClassifier) -> PlainSection:
    sizes = getattr(model, "class_sizes_", None)
    if sizes is None or math.isnan(model.validation_score_):
        return PlainSection(title=_TITLE, texts=[_UNKNOWN])
    largest = int(np.argmax(sizes))
    name, share = shortened(str(model.classes_[largest]), _LETTERS), sizes[largest] / sum(sizes)
    right = model.validation_score_
    rows = [("The model", right, share), (f"Always answering {name}", share, share)]
    table = PlainTable(
        title="How often the answer is right",
        columns=("Who answers", "Right", "Share of the largest class"),
        rows=tuple((who, cases_in_words(score), f"{part:.0%} ({name})") for who, score, part in rows),
    )
    return PlainSection(
        title=_TITLE,
        texts=[_ASIDE, _verdict(right, share, f"always answering {name}, the most common answer,")],
        tables=[table],
        points=["The answers kept aside also helped to choose the model, so new entries can be harder."],
    )


def _verdict(right: float, share: float, rule: str) -> str:
    """Compare a model with a rule that needs no model."""
    if right <= share:
        return (
            f"The model is right in {cases_in_words(right)}, and {rule} in {cases_in_words(share)}. It is "
            "not better than this rule: do not act on its lists."
        )
    return f"The model is right in {cases_in_words(right)}; {rule} would be right in {cases_in_words(share)}."


def _unseen_truth(model: GADCRegressor | GADCMultilabelClassifier, data: Data) -> NDArray[Any] | None:
    """Return known targets where the model predicted them unseen; None on another graph."""
    target, graph = data.get("target"), model.graph_
    guessed = model.cross_validated_
    if target is None or graph is None or len(target) != len(guessed):
        return None
    if graph.edge_index.shape != data.edge_index.shape or not torch.equal(graph.edge_index, data.edge_index):
        return None
    truth: NDArray[Any] = np.asarray(target.double())
    judged = ~np.isnan(guessed.reshape(len(guessed), -1)).any(1)
    judged &= ~np.isnan(truth.reshape(len(truth), -1)).any(1)
    if not judged.any():
        return None
    hidden = np.where(judged.reshape(-1, *[1] * (truth.ndim - 1)), truth, np.nan)
    return hidden


def _numbers(model: GADCRegressor, truth: NDArray[Any]) -> PlainSection:
    judged = ~np.isnan(truth)
    known = truth[judged]
    off = float(np.abs(known - model.cross_validated_[judged]).mean())
    rule = float(np.abs(known - known.mean()).mean())
    text = (
        f"The predicted numbers are off by {format_value(off)} on average; always answering the average of "
        f"the known numbers would be off by {format_value(rule)}."
    )
    if off >= rule:
        text += " The model is not better than this rule: do not act on its list."
    return PlainSection(title=_TITLE, texts=[_ASIDE, text])


def _labels(model: GADCMultilabelClassifier, truth: NDArray[Any]) -> PlainSection:
    judged = ~np.isnan(truth).any(1)
    known = truth[judged].astype(int)
    right = (known == (model.cross_validated_[judged] >= model.thresholds_)).mean(0)
    share = np.maximum(known.mean(0), 1 - known.mean(0))
    table = PlainTable(
        title="How often the answer is right",
        columns=("Label", "The model is right in", "Share of the more common answer"),
        rows=tuple(
            (shortened(name, _LETTERS), cases_in_words(score), f"{part:.0%}")
            for name, score, part in zip(model.label_names_, right, share, strict=True)
        ),
    )
    better = int((right > share).sum())
    text = (
        f"For {better} of {len(right)} labels the model is right more often than always giving the more "
        "common answer."
    )
    return PlainSection(title=_TITLE, texts=[_ASIDE, text], tables=[table])
