"""Counts of true and predicted classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gadc.report._pictures._picture import Ints, Picture
from gadc.report._style import BLUE, ORANGE, PAPER, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NUMBERED_CLASSES = 12  # with more classes there is no room for the counts
_SHOWN_CLASSES = 30


@dataclass(frozen=True, kw_only=True)
class ConfusionMatrix(Picture):
    """Counts by true (row) and predicted (column) class; the largest classes if there are many.

    Attributes:
        classes: Names of the classes.
        counts: Counts, shape (c, c).
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
            (BLUE if line == column else ORANGE, 0.03 + 0.62 * float(shares[line, column]))
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
