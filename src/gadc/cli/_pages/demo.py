"""Report of `gadc demo`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from gadc.cli._pages.shared import card, format_facts
from gadc.models import Fitted
from gadc.report import (
    AccuracyBars,
    Bar,
    Comparison,
    ComparisonCell,
    ConfusionMatrix,
    Picture,
    RunReport,
    TrainingCurves,
    edge_cosines,
    feature_map,
    training_curve,
)

_NUM_CLASSES = 10
_NOTES = (
    "The graph joins every image with its 10 nearest ones by the clean pixels and is taken as known; the"
    " false edges join random images. λ, K and ε of each method were chosen on validation images; all figures"
    " are measured on test images. No variant is best everywhere.",
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One method on one seed, with the settings that validation chose.

    Attributes:
        method: Name of the method.
        settings: λ, K, ε and variant; empty without a graph.
        test_accuracy: Test accuracy in percent.
        features: The features that the model was trained on, before standardisation: S X, or X.
        fitted: The trained model.
    """

    method: str
    settings: dict[str, Any]
    test_accuracy: float
    features: Tensor
    fitted: Fitted


def demo_page(
    command: str,
    runs: Sequence[Sequence[Outcome]],
    *,
    title: str,
    data: Data,
    seed: int,
    controls: tuple[str, str],
    settings: Mapping[str, str],
) -> RunReport:
    """Build the report: tables over all seeds, plots of the first seed.

    Args:
        command: The command as it was given.
        runs: The outcomes of each seed.
        title: Heading.
        data: The corrupted graph of the first seed.
        seed: The first seed.
        controls: Names of the methods without a graph and with plain diffusion.
        settings: Corruption and grid, by name.
    """
    rows, chosen = summarize(runs), best_validated(runs, controls)
    seeds = f"{seed} to {seed + len(runs) - 1}" if len(runs) > 1 else str(seed)
    return RunReport(
        title=title,
        verdict=_verdict({row["method"]: row for row in rows}, controls, chosen),
        command=command,
        settings=format_facts({**settings, "seeds": seeds}),
        card={"data set": "scikit-learn's handwritten digits, corrupted", **card(data)},
        comparison=_comparison(rows),
        accuracies=_bars(rows, controls),
        pictures=_pictures({one.method: one for one in runs[0]}, chosen, data, seed),
        notes=_NOTES,
    )


def summarize(runs: Sequence[Sequence[Outcome]]) -> list[dict[str, Any]]:
    """Return mean and standard deviation over the seeds, and the settings of the first seed."""
    rows = []
    for outcomes in zip(*runs, strict=True):
        figures = np.array([one.test_accuracy for one in outcomes])
        std = float(figures.std(ddof=1)) if len(figures) > 1 else 0.0
        rows.append(
            {"method": outcomes[0].method, "mean": float(figures.mean()), "std": std}
            | {"runs": len(figures), "settings": outcomes[0].settings}
        )
    return rows


def mean_and_deviation(row: dict[str, Any]) -> str:
    """Format the mean and, for several seeds, the standard deviation of a method."""
    return f"{row['mean']:.1f} ± {row['std']:.1f}" if row["runs"] > 1 else f"{row['mean']:.1f}"


def best_validated(runs: Sequence[Sequence[Outcome]], controls: tuple[str, str]) -> str:
    """Return the variant of GADC with the highest validation accuracy over the seeds."""
    sums: dict[str, float] = {
        outcomes[0].method: sum(one.fitted.trained.val_accuracy for one in outcomes)
        for outcomes in zip(*runs, strict=True)
        if outcomes[0].method not in controls
    }
    return max(sums, key=lambda method: sums[method])


def _verdict(rows: dict[str, dict[str, Any]], controls: tuple[str, str], chosen: str) -> str:
    alone, plain, best = (mean_and_deviation(rows[name]) for name in (*controls, chosen))
    return (
        f"Test accuracy: {alone} % from the noisy pixels alone, {plain} % after plain diffusion over the"
        f" corrupted graph, {best} % with {chosen}, the variant of GADC with the best validation accuracy."
    )


def _comparison(rows: list[dict[str, Any]]) -> Comparison:
    lines = []
    for row in rows:
        chosen = row["settings"]
        cells = [ComparisonCell(text=mean_and_deviation(row), value=row["mean"])]
        cells += [
            ComparisonCell(text=f"{chosen[key]:g}" if key in chosen else "", value=chosen.get(key))
            for key in ("lam", "num_steps", "eps")
        ]
        lines.append((row["method"], tuple(cells)))
    return Comparison(
        columns=("features", "test accuracy %", "λ", "K", "ε"),
        rows=tuple(lines),
        caption=f"Mean ± standard deviation over {rows[0]['runs']} seeds; λ, K and ε of the first seed."
        " Click a header to sort.",
    )


def _bars(rows: list[dict[str, Any]], controls: tuple[str, str]) -> AccuracyBars:
    bars = (
        Bar(
            label=row["method"],
            value=row["mean"],
            low=row["mean"] - row["std"],
            high=row["mean"] + row["std"],
            control=row["method"] in controls,
        )
        for row in rows
    )
    caption = "Lines: one standard deviation over the seeds. Grey: controls."
    return AccuracyBars(title="Test accuracy", caption=caption, bars=tuple(bars))


def _pictures(first: dict[str, Outcome], chosen: str, data: Data, seed: int) -> list[Picture]:
    curves = (training_curve(name, one.fitted.trained) for name, one in first.items())
    pictures: list[Picture | None] = [
        feature_map(data.x, first[chosen].features, data.y, list(range(_NUM_CLASSES)), seed=seed),
        edge_cosines(data, seed=seed),
        ConfusionMatrix(
            title=f"Test images by digit, {chosen}",
            caption="First seed. Strong colour: a large share of the images of that digit; blue is correct.",
            classes=tuple(map(str, range(_NUM_CLASSES))),
            counts=_confusion(first[chosen], data),
        ),
        TrainingCurves(
            title="Training",
            caption="First seed, each method with its chosen settings. Dots: the epoch that was kept.",
            curves=tuple(curves),
        ),
    ]
    return [picture for picture in pictures if picture is not None]


def _confusion(outcome: Outcome, data: Data) -> NDArray[np.int64]:
    """Count the test images by true and predicted digit."""
    truth, predicted = data.y[data.test_mask], outcome.fitted.logits[data.test_mask].argmax(1)
    pairs = truth * _NUM_CLASSES + predicted
    return torch.bincount(pairs, minlength=_NUM_CLASSES**2).reshape(_NUM_CLASSES, _NUM_CLASSES).numpy()
