"""Residuals by predicted number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gadc.report._pictures._picture import Floats, Picture
from gadc.report._style import BLUE, GREY, PAPER, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 3000  # points that a page holds


@dataclass(frozen=True, kw_only=True)
class ResidualPlot(Picture):
    """The known number minus the predicted one, by predicted number; a random part of many nodes.

    Attributes:
        predicted: Predicted number of each node.
        truth: Known number of each node.
    """

    predicted: Floats
    truth: Floats

    def paint(self, figure: Figure) -> None:
        """Fill the figure."""
        shown = np.random.default_rng(0).permutation(len(self.truth))[:MOST]
        axes = figure.add_subplot(facecolor=PAPER)
        axes.axhline(0, color=GREY, linewidth=1, linestyle="--")
        axes.scatter(
            self.predicted[shown],
            (self.truth - self.predicted)[shown],
            s=8,
            color=BLUE,
            alpha=0.6,
            linewidths=0,
        )
        axes.set(xlabel="predicted", ylabel="known - predicted")
        quiet(axes)
