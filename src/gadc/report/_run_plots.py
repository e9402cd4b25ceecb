"""The pictures of a run: accuracies, cosines of edges, training curves, confusion matrix, X against S X.

Each is a frozen dataclass of the figures it shows, with a caption that says how to read it, and paints itself
in colours that are readable on light and on dark pages.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gadc.report._plots import COLORS, INK, PAPER, quiet, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]

WIDTH = 4.4  # inches; narrow, so that letters stay readable on a phone
_BLUE, _ORANGE, _GREY = COLORS[0], COLORS[1], COLORS[7]
_PALETTE = (*COLORS[:7], "#5bb8c4", "#9a6b4b", "#6b8e23")
_NUMBERED_CLASSES = 12  # up to so many classes the confusion matrix has room for its counts
_SHOWN_CLASSES = 30
_BINS = 48


@dataclass(frozen=True, kw_only=True)
class Picture(ABC):
    """A picture and how to read it.

    Attributes:
        title: Its heading.
        caption: What its marks mean, and what was left out.
    """

    title: str
    caption: str = ""

    @property
    def height(self) -> float:
        """Height in inches."""
        return 3.0

    def svg(self) -> str:
        """The picture as an SVG file; needs matplotlib."""
        return render(
            self.paint, (WIDTH, self.height), name=f"{type(self).__name__} {self.title}", kind="svg"
        ).decode()

    @abstractmethod
    def paint(self, figure: Figure) -> None:
        """Fill the figure."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One figure with its interval, in percent.

    Attributes:
        label: Whose figure it is.
        value: The figure.
        low: Lower end of the interval, as `high` None where there is none.
        high: Upper end.
        control: Whether it is there to be compared with.
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    control: bool = False


@dataclass(frozen=True, kw_only=True)
class AccuracyBars(Picture):
    """Accuracies beside one another; controls in grey."""

    bars: tuple[Bar, ...]

    @property
    def height(self) -> float:
        """Height in inches: a line for every bar."""
        return 0.7 + 0.34 * len(self.bars)

    def paint(self, figure: Figure) -> None:
        """Fill the figure."""
        axes = figure.add_subplot(facecolor=PAPER)
        places = range(len(self.bars))
        values = [bar.value for bar in self.bars]
        axes.barh(places, values, height=0.62, color=[_GREY if bar.control else _BLUE for bar in self.bars])
        for place, bar in enumerate(self.bars):
            if bar.low is not None and bar.high is not None:
                axes.plot([bar.low, bar.high], [place, place], color=INK, linewidth=1.4, marker="|")
            figure_text = "–" if math.isnan(bar.value) else f"{bar.value:.1f}"
            axes.text(102, place, figure_text, va="center", ha="left", fontweight="bold")
        axes.set_yticks(places, [shortened(bar.label, 28) for bar in self.bars])
        axes.set(xlim=(0, 100), xlabel="accuracy (%)")
        axes.invert_yaxis()
        axes.grid(axis="x", color="#808080", alpha=0.25, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)


@dataclass(frozen=True, kw_only=True)
class CosineHistogram(Picture):
    """Cosines of the ends of edges that are kept and of those that are distrusted.

    Attributes:
        cosines: One for each edge shown.
        distrusted: Whether each of them is.
        planted: Whether each is known to be false; None where nothing is known.
    """

    cosines: Floats
    distrusted: NDArray[np.bool_]
    planted: NDArray[np.bool_] | None = None

    def paint(self, figure: Figure) -> None:
        """Fill the figure."""
        axes = figure.add_subplot(facecolor=PAPER)
        low, high = (self.cosines.min(), self.cosines.max()) if len(self.cosines) else (-1.0, 1.0)
        bins = np.linspace(low, high if high > low else low + 1, _BINS + 1).tolist()
        kinds = (("kept", ~self.distrusted, _BLUE), ("distrusted", self.distrusted, _ORANGE))
        for name, chosen, color in kinds:
            label = f"{name} ({chosen.sum():,})"
            axes.hist(self.cosines[chosen], bins=bins, color=color, alpha=0.6, label=label)
        if self.planted is not None:
            label = f"known to be false ({self.planted.sum():,})"
            axes.hist(self.cosines[self.planted], bins=bins, histtype="step", color=INK, label=label)
        axes.set(xlabel="cosine of the features of the two ends", ylabel="edges")
        axes.locator_params(axis="x", nbins=7)
        quiet(axes)
        figure.legend(loc="outside upper center", ncols=2, frameon=False)


@dataclass(frozen=True, kw_only=True)
class TrainingCurve:
    """One training: loss on the training nodes and accuracy (%) on the validation nodes, by epoch."""

    label: str
    losses: Sequence[float]
    accuracies: Sequence[float]
    epoch: int


@dataclass(frozen=True, kw_only=True)
class TrainingCurves(Picture):
    """How trainings went; a dot marks the epoch that was kept."""

    curves: tuple[TrainingCurve, ...]

    @property
    def height(self) -> float:
        """Height in inches: two panels, and a legend with two entries a line."""
        return 3.7 + 0.19 * ((len(self.curves) + 1) // 2)

    def paint(self, figure: Figure) -> None:
        """Fill the figure."""
        above, below = figure.subplots(2, sharex=True)
        for number, curve in enumerate(self.curves):
            color = _PALETTE[number % len(_PALETTE)]
            above.plot(curve.accuracies, color=color, linewidth=1.3, label=shortened(curve.label, 28))
            below.plot(curve.losses, color=color, linewidth=1.3)
            if 0 <= curve.epoch < len(curve.accuracies):
                above.plot(curve.epoch, curve.accuracies[curve.epoch], color=color, marker="o", markersize=5)
        above.set_ylabel("validation accuracy (%)")
        below.set(xlabel="epoch", ylabel="training loss")
        for axes in (above, below):
            axes.set_facecolor(PAPER)
            quiet(axes)
        figure.legend(loc="outside upper center", ncols=2, frameon=False)


@dataclass(frozen=True, kw_only=True)
class ConfusionMatrix(Picture):
    """Counts by true (line) and predicted (column) class; the largest classes where there are many.

    Attributes:
        classes: Names of the classes.
        counts: Shape (c, c).
    """

    classes: tuple[str, ...]
    counts: Ints

    @property
    def height(self) -> float:
        """Height in inches: about square."""
        return 4.0

    def paint(self, figure: Figure) -> None:
        """Fill the figure."""
        axes = figure.add_subplot(facecolor=PAPER)
        chosen = np.sort(np.argsort(-self.counts.sum(1), kind="stable")[:_SHOWN_CLASSES])
        counts, names = self.counts[np.ix_(chosen, chosen)], [shortened(self.classes[i], 12) for i in chosen]
        shares = counts / np.maximum(self.counts[chosen].sum(1, keepdims=True), 1)
        lines, columns = np.indices(shares.shape).reshape(2, -1)
        # Transparent rather than pale, so that the page shows through and its letters stay readable.
        colors = [
            (_BLUE if line == column else _ORANGE, 0.03 + 0.62 * float(shares[line, column]))
            for line, column in zip(lines, columns, strict=True)
        ]
        axes.barh(lines, 0.94, 0.94, left=columns - 0.47, color=colors)
        if len(chosen) <= _NUMBERED_CLASSES:
            size = 9 if len(chosen) <= 8 else 7.5
            for line, column in np.argwhere(counts):
                axes.text(column, line, f"{counts[line, column]:,}", ha="center", va="center", fontsize=size)
        turn = 90 if max(map(len, names), default=0) > 3 else 0
        size = 9 if len(names) <= _NUMBERED_CLASSES else 6
        axes.set_xticks(range(len(names)), names, rotation=turn, fontsize=size)
        axes.set_yticks(range(len(names)), names, fontsize=size)
        axes.set(xlabel="predicted class", ylabel="true class", xlim=(-0.5, len(names) - 0.5))
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)


@dataclass(frozen=True, kw_only=True)
class FeatureMap(Picture):
    """Nodes by the two main directions of X and, apart, by those of S X.

    Attributes:
        before: Places of the nodes, shape (k, 2), from X.
        after: The same nodes from S X.
        codes: Position of each node's class in `classes`; -1 without one.
        classes: Names of the classes.
    """

    before: Floats
    after: Floats
    codes: Ints
    classes: tuple[str, ...]

    def paint(self, figure: Figure) -> None:
        """Fill the figure."""
        panels = figure.subplots(1, 2)
        for axes, title, places in zip(panels, ("X", "S X"), (self.before, self.after), strict=True):
            self._scatter(axes, places)
            axes.set_title(title, fontsize=10)
        handles, labels = panels[0].get_legend_handles_labels()
        columns = 10 if max(map(len, labels), default=0) <= 3 else 4
        tight: dict[str, Any] = {
            "handletextpad": 0.0,
            "columnspacing": 0.5,
            "frameon": False,
            "markerscale": 2,
        }
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, **tight)

    def _scatter(self, axes: Axes, places: Floats) -> None:
        nameless = self.codes < 0
        x, y = places.T
        axes.scatter(x[nameless], y[nameless], s=6, color=_GREY, alpha=0.35, linewidths=0)
        for code, name in enumerate(self.classes):
            here = self.codes == code
            color = _PALETTE[code % len(_PALETTE)]
            label = shortened(name, 12) if len(self.classes) <= len(_PALETTE) else None
            axes.scatter(x[here], y[here], s=9, color=color, alpha=0.75, linewidths=0, label=label)
        axes.set(xticks=[], yticks=[], facecolor=PAPER)
        axes.spines[:].set_alpha(0.4)


def shortened(text: str, limit: int) -> str:
    """The text, cut where it would take the room of the picture."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
