"""What cleaning gains: accuracy with the graph as it is, cleaned, thinned at random, and left out.

Every fold looks for false edges again with the labels of its test nodes hidden. The interval is the one of
repeated cross-validation with the correction for overlapping training sets (Nadeau and Bengio, Machine
Learning 2003).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from torch_geometric.data import Data

from gadc._base.scalars import check_choice, check_count
from gadc.lab._clean import edges_without
from gadc.lab._pairs_of_nodes import Likeness
from gadc.lab._prepared import unit_rows
from gadc.lab._view import GraphView, Integers, adjacency_of
from gadc.lab.kinds._edge import Edge
from gadc.lab.kinds._label import Label

AS_IS, CLEANED, RANDOM, ALONE = (
    "graph as it is",
    "graph cleaned",
    "as many edges removed at random",
    "without the graph",
)
_Score = Callable[[GraphView, Integers | None, Integers, Integers, Integers], float]


@dataclass(frozen=True, kw_only=True)
class CleaningComparison:
    """The result of `Lab.compare`.

    Attributes:
        frame: One row per way to use the graph: mean `accuracy`, its 95 % interval (`low`, `high`), the mean
            difference to the graph as it is (`gain`) with its interval (`gain_low`, `gain_high`).
        sentence: The result in words.
        scores: The accuracy of each fold, by way.

    Examples:
        >>> import gadc
        >>> from gadc.datasets import csbm
        >>> lab = gadc.Lab(csbm(120, homophily=0.9, signal=2.0, seed=0))
        >>> result = lab.compare(repeats=1, folds=3, draws=1)
        >>> len(result.frame), result.scores["graph cleaned"].shape
        (4, (3,))
    """

    frame: pl.DataFrame
    sentence: str
    scores: dict[str, NDArray[np.float64]]

    def __str__(self) -> str:
        lines = []
        for way, *shares in self.frame.select("way", "accuracy", "low", "high").iter_rows():
            mean, low, high = (100 * share for share in shares)
            lines.append(f"{way:<32} {mean:5.1f} %  ({low:.1f} to {high:.1f})")
        return "\n".join([*lines, self.sentence])


def compare_cleaning(
    view: GraphView,
    *,
    labels: bool,
    model: str,
    folds: int,
    repeats: int,
    draws: int,
    seed: int,
    tell: Callable[[str], None],
) -> CleaningComparison:
    """Run the comparison; see `Lab.compare`."""
    check_choice("Lab.compare", model, "model", ("linear", "auto"))
    for name, value, low in (("folds", folds, 2), ("repeats", repeats, 1), ("draws", draws, 1)):
        check_count("Lab.compare", value, name, low=low)
    sizes = np.bincount(view.y[view.labelled])
    smallest = int(sizes[sizes > 0].min()) if len(sizes) else 0
    if view.num_classes < 2 or smallest < 2:
        raise ValueError("Lab.compare: labels must be of at least two classes with two nodes each.")
    splits = RepeatedStratifiedKFold(n_splits=min(folds, smallest), n_repeats=repeats, random_state=seed)
    score = _linear if model == "linear" else _auto
    scores: dict[str, list[float]] = {AS_IS: [], CLEANED: [], RANDOM: [], ALONE: []}
    removed, ratio = [], 0.0
    for number, (train, test) in enumerate(splits.split(view.labelled, view.y[view.labelled])):
        tell(f"compare: fold {number + 1} of {splits.get_n_splits()}")
        train, test, ratio = view.labelled[train], view.labelled[test], len(test) / len(train)
        hidden = _hidden(view, test)
        kept = edges_without(hidden, Edge(with_effects=False).find(hidden))
        removed.append(int((~kept).sum()))
        better = _corrected(hidden) if labels else view.y
        scores[AS_IS].append(score(view, view.pairs, train, test, view.y))
        scores[CLEANED].append(score(view, view.pairs[:, kept], train, test, better))
        rng = np.random.default_rng([seed, number])
        thinned = [rng.permutation(kept) for _ in range(draws)]
        scores[RANDOM].append(
            float(np.mean([score(view, view.pairs[:, some], train, test, view.y) for some in thinned]))
        )
        scores[ALONE].append(score(view, None, train, test, view.y))
    return _compared(
        {way: np.array(values) for way, values in scores.items()}, ratio, float(np.mean(removed))
    )


def _hidden(view: GraphView, test: Integers) -> GraphView:
    """Return the view without the labels of the test nodes; what does not depend on labels is shared."""
    data = copy(view.data)
    data.y = torch.from_numpy(np.where(np.isin(np.arange(view.num_nodes), test), -1, view.y))
    hidden = replace(view, data=data, tell=lambda step: None)
    for name in ("pairs", "adjacency", "degree", "features", "rows"):
        hidden.__dict__[name] = getattr(view, name)
    return hidden


def _corrected(hidden: GraphView) -> Integers:
    """Return the labels with the flagged ones replaced by the suggested class."""
    y = hidden.y.copy()
    flagged = Label().find(hidden).issues
    codes = {name: number for number, name in enumerate(hidden.class_names)}
    y[flagged["node"].to_numpy()] = [codes[name] for name in flagged["suggested"]]
    return y


def _linear(view: GraphView, pairs: Integers | None, train: Integers, test: Integers, y: Integers) -> float:
    """Return the accuracy of logistic regression on features and features diffused over two steps."""
    n = view.num_nodes
    parts = [unit_rows(view.rows)]
    if pairs is not None:
        graph = adjacency_of(pairs, n)
        parts.append(unit_rows(Likeness(view.rows, graph).smoothed(2)))
        votes = np.zeros((n, int(view.y.max()) + 1), dtype=np.float32)
        votes[train, y[train]] = 1
        counts: NDArray[np.float32] = graph @ votes
        parts.append(counts / np.maximum(counts.sum(1, keepdims=True), 1))
    inputs = np.concatenate(parts, axis=1)
    if not inputs.shape[1]:
        inputs = np.ones((n, 1), dtype=np.float32)
    model = LogisticRegression(C=1.0, max_iter=200, tol=1e-3).fit(inputs[train], y[train])
    return float((model.predict(inputs[test]) == view.y[test]).mean())


def _auto(view: GraphView, pairs: Integers | None, train: Integers, test: Integers, y: Integers) -> float:
    """Return the accuracy of `GADCClassifier(variant="auto")`."""
    from gadc.estimators import GADCClassifier

    seen = np.full(view.num_nodes, -1)
    seen[train] = y[train]
    # Class numbers instead of names, and no masks: these folds decide what is seen.
    data = Data(x=view.data.x, y=torch.from_numpy(seen), num_nodes=view.num_nodes)
    if pairs is not None:
        ends = torch.from_numpy(pairs)
        data.edge_index = torch.cat([ends, ends.flip(0)], dim=1)
    model = GADCClassifier(variant="auto", random_state=0).fit_data(data)
    predicted = model.predict_data(data)
    return float((predicted[test] == view.y[test]).mean())


def _compared(scores: dict[str, NDArray[np.float64]], ratio: float, removed: float) -> CleaningComparison:
    rows = []
    for way, values in scores.items():
        mean, low, high = _interval(values, ratio)
        gain, gain_low, gain_high = _interval(values - scores[AS_IS], ratio)
        rows.append((way, mean, max(low, 0.0), min(high, 1.0), gain, gain_low, gain_high))
    columns = ["way", "accuracy", "low", "high", "gain", "gain_low", "gain_high"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return CleaningComparison(frame=frame, sentence=_sentence(scores, ratio, removed), scores=scores)


def _interval(values: NDArray[np.float64], ratio: float) -> tuple[float, float, float]:
    """Return mean and 95 % interval over the folds of repeated cross-validation."""
    mean, count = float(values.mean()), len(values)
    if count < 2:
        return mean, mean, mean
    half = float(stats.t.ppf(0.975, count - 1) * np.sqrt(values.var(ddof=1) * (1 / count + ratio)))
    return mean, mean - half, mean + half


def _sentence(scores: dict[str, NDArray[np.float64]], ratio: float, removed: float) -> str:
    gain, low, high = _interval(scores[CLEANED] - scores[AS_IS], ratio)
    control, control_low, _ = _interval(scores[CLEANED] - scores[RANDOM], ratio)
    figures = f"{100 * gain:+.1f} points, between {100 * low:+.1f} and {100 * high:+.1f}"
    if not removed:
        return "Nothing was flagged in any fold, so there was nothing to clean."
    if high < 0:
        return f"Cleaning did harm: {figures}."
    if low <= 0:
        return f"Cleaning did not help: {figures}, which is within chance."
    beside = f"{100 * control:+.1f} points against removing as many edges at random"
    doubt = "" if control_low > 0 else ", which is within chance"
    return f"Cleaning helped: {figures}; {beside}{doubt}."
