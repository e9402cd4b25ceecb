"""Cosines of suspicious and of other edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gadc.report._pictures._picture import Floats, Picture
from gadc.report._style import BLUE, INK, ORANGE, PAPER, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BINS = 48


@dataclass(frozen=True, kw_only=True)
class CosineHistogram(Picture):
    """Cosines of the features at the two ends of suspicious edges and of the other edges.

    Attributes:
        cosines: Cosine of each edge shown.
        suspicious: Whether each edge is suspicious.
        planted: Whether each edge is known to be false; None if nothing is known.
    """

    cosines: Floats
    suspicious: NDArray[np.bool_]
    planted: NDArray[np.bool_] | None = None

    def paint(self, figure: Figure) -> None:
        """Fill the figure."""
        axes = figure.add_subplot(facecolor=PAPER)
        low, high = (self.cosines.min(), self.cosines.max()) if len(self.cosines) else (-1.0, 1.0)
        bins = np.linspace(low, high if high > low else low + 1, _BINS + 1).tolist()
        kinds = (("other", ~self.suspicious, BLUE), ("suspicious", self.suspicious, ORANGE))
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
