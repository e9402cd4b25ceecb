"""The report of `gadc demo`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_geometric.data import Data

from gadc.cli._demonstration import (
    GRID,
    METHODS,
    NO_GRAPH,
    NOISE,
    PLAIN,
    RATE,
    Outcome,
    best_validated,
    confusion,
    corrupted_digits,
    summarize,
)
from gadc.cli._run_pages import card, texts
from gadc.report._run_evidence import edge_cosines, feature_map, training_curve
from gadc.report._run_plots import AccuracyBars, Bar, ConfusionMatrix, Picture, TrainingCurves
from gadc.report._run_report import Cell, Comparison, RunReport

TITLE = "Digits with noisy pixels and planted edges"
_NOTES = (
    "The graph joins every image with its 10 nearest ones by the clean pixels and is taken as known; the"
    " false edges join random images. λ, K and ε of each method were chosen on validation images; all figures"
    " are of test images. No variant is best everywhere: what wins here wins here.",
)


def demo_page(command: str, runs: Sequence[Sequence[Outcome]], seed: int) -> RunReport:
    """The page; tables over all seeds, pictures of the first one.

    Args:
        command: As it was given.
        runs: The outcomes of each seed.
        seed: The first seed.
    """
    rows, data = summarize(runs), corrupted_digits(seed)
    chosen = best_validated(runs)
    first = {one.method: one for one in runs[0]}
    steps = ", ".join(f"({step['lam']:g}, {step['num_steps']})" for step in GRID)
    settings: dict[str, Any] = {
        "features": f"Gaussian noise, standard deviation {NOISE:g} (pixels in 0 to 1)"
    }
    settings |= {"edges": f"{100 * RATE:g} % more of them, all false", "(λ, K) tried": steps}
    settings |= {"seeds": f"{seed} to {seed + len(runs) - 1}" if len(runs) > 1 else str(seed)}
    return RunReport(
        title=TITLE,
        verdict=_verdict({row["method"]: row for row in rows}, chosen),
        command=command,
        settings=texts(settings),
        card={"data set": "scikit-learn's handwritten digits, corrupted", **card(data)},
        comparison=_comparison(rows),
        accuracies=_bars(rows),
        pictures=_pictures(first, chosen, data, seed),
        notes=_NOTES,
    )


def spread(row: dict[str, Any]) -> str:
    """Mean and deviation of a method."""
    return f"{row['mean']:.1f} ± {row['std']:.1f}" if row["runs"] > 1 else f"{row['mean']:.1f}"


def _verdict(rows: dict[str, dict[str, Any]], chosen: str) -> str:
    alone, plain, best = (spread(rows[name]) for name in (NO_GRAPH, PLAIN, chosen))
    return (
        f"Test accuracy: {alone} % from the noisy pixels alone, {plain} % after plain diffusion over the"
        f" corrupted graph, {best} % with {chosen}, the variant of GADC that validated best."
    )


def _comparison(rows: list[dict[str, Any]]) -> Comparison:
    lines = []
    for row in rows:
        chosen = row["settings"]
        cells = [Cell(text=spread(row), value=row["mean"])]
        cells += [
            Cell(text=f"{chosen[key]:g}" if key in chosen else "", value=chosen.get(key))
            for key in ("lam", "num_steps", "eps")
        ]
        lines.append((row["method"], tuple(cells)))
    return Comparison(
        columns=("features", "test accuracy %", "λ", "K", "ε"),
        rows=tuple(lines),
        caption=f"Mean ± standard deviation over {rows[0]['runs']} seeds; λ, K and ε as chosen for the first."
        " A click on a header sorts.",
    )


def _bars(rows: list[dict[str, Any]]) -> AccuracyBars:
    bars = (
        Bar(
            label=row["method"],
            value=row["mean"],
            low=row["mean"] - row["std"],
            high=row["mean"] + row["std"],
            control=row["method"] in (NO_GRAPH, PLAIN),
        )
        for row in rows
    )
    caption = "Lines: one standard deviation over the seeds. Grey: controls."
    return AccuracyBars(title="Test accuracy", caption=caption, bars=tuple(bars))


def _pictures(first: dict[str, Outcome], chosen: str, data: Data, seed: int) -> list[Picture]:
    curves = (training_curve(name, first[name].fitted.trained) for name in METHODS)
    pictures: list[Picture | None] = [
        feature_map(data.x, first[chosen].features, data.y, list(range(10)), seed=seed),
        edge_cosines(data, seed=seed),
        ConfusionMatrix(
            title=f"Test images by digit, {chosen}",
            caption="First seed. Strong colour: a large share of the images of that digit; blue is right.",
            classes=tuple(map(str, range(10))),
            counts=confusion(first[chosen], data),
        ),
        TrainingCurves(
            title="Training",
            caption="First seed, each with its chosen settings. Dots: the epoch that was kept.",
            curves=tuple(curves),
        ),
    ]
    return [picture for picture in pictures if picture is not None]
