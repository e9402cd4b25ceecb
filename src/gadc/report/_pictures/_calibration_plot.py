"""Predicted probabilities beside what happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gadc.report._pictures._picture import Floats, Picture
from gadc.report._style import BLUE, GREY, PAPER, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BINS = 10


@dataclass(frozen=True, kw_only=True)
class CalibrationPlot(Picture):
    """The share of nodes for which a prediction was true, by predicted probability, over a histogram.

    Attributes:
        probability: Predicted probability of each node, between 0 and 1.
        happened: Whether the prediction was true, 0 or 1.
    """

    probability: Floats
    happened: Floats

    @property
    def height(self) -> float:
        """Height in inches: two panels."""
        return 4.2

    def paint(self, figure: Figure) -> None:
        """Fill the figure."""
        above, below = figure.subplots(2, sharex=True, height_ratios=(3, 1))
        bins = np.clip((self.probability * _BINS).astype(int), 0, _BINS - 1)
        counts = np.bincount(bins, minlength=_BINS)
        filled = counts > 0
        mean = np.bincount(bins, self.probability, _BINS)[filled] / counts[filled]
        share = np.bincount(bins, self.happened, _BINS)[filled] / counts[filled]
        error = np.sqrt(share * (1 - share) / counts[filled])
        above.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")
        above.errorbar(mean, share, yerr=error, color=BLUE, marker="o", markersize=4, linewidth=1.3)
        above.set(xlim=(0, 1), ylim=(-0.02, 1.02), ylabel="share that is true")
        below.bar((np.arange(_BINS) + 0.5) / _BINS, counts, width=0.9 / _BINS, color=GREY)
        below.set(xlabel="predicted probability", ylabel="nodes")
        for axes in (above, below):
            axes.set_facecolor(PAPER)
            quiet(axes)
