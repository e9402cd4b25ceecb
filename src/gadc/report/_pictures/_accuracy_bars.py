"""Accuracies as bars with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gadc.report._pictures._picture import Picture
from gadc.report._style import BLUE, GREY, INK, PAPER, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One accuracy with its interval, in percent.

    Attributes:
        label: Name of the model.
        value: The accuracy; nan if it was not measured.
        low: Lower end of the interval; None if there is no interval.
        high: Upper end of the interval.
        control: Whether the model is a control, which is drawn in grey.
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    control: bool = False


@dataclass(frozen=True, kw_only=True)
class AccuracyBars(Picture):
    """Accuracies below one another; controls in grey.

    Attributes:
        bars: One bar per model.
        measure: What the bars show, in percent; the accuracy by default.
    """

    bars: tuple[Bar, ...]
    measure: str = "accuracy (%)"

    @property
    def height(self) -> float:
        """Height in inches: a line for every bar."""
        return 0.7 + 0.34 * len(self.bars)

    def paint(self, figure: Figure) -> None:
        """Fill the figure."""
        axes = figure.add_subplot(facecolor=PAPER)
        places = range(len(self.bars))
        values = [bar.value for bar in self.bars]
        axes.barh(places, values, height=0.62, color=[GREY if bar.control else BLUE for bar in self.bars])
        for place, bar in enumerate(self.bars):
            if bar.low is not None and bar.high is not None:
                axes.plot([bar.low, bar.high], [place, place], color=INK, linewidth=1.4, marker="|")
            figure_text = "–" if math.isnan(bar.value) else f"{bar.value:.1f}"
            axes.text(102, place, figure_text, va="center", ha="left", fontweight="bold")
        axes.set_yticks(places, [shortened(bar.label, 28) for bar in self.bars])
        axes.set(xlim=(0, 100), xlabel=self.measure)
        axes.invert_yaxis()
        axes.grid(axis="x", color="#808080", alpha=0.25, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
