"""Loss and validation accuracy by epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gadc.report._pictures._picture import Picture
from gadc.report._style import CLASS_COLORS, PAPER, quiet, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class TrainingCurve:
    """One training.

    Attributes:
        label: Name of the model.
        losses: Loss on the training nodes by epoch.
        accuracies: Accuracy on the validation nodes by epoch, in percent.
        epoch: Epoch whose weights were kept.
    """

    label: str
    losses: Sequence[float]
    accuracies: Sequence[float]
    epoch: int


@dataclass(frozen=True, kw_only=True)
class TrainingCurves(Picture):
    """The course of several trainings; a dot marks the epoch that was kept.

    Attributes:
        curves: One curve per training.
    """

    curves: tuple[TrainingCurve, ...]

    @property
    def height(self) -> float:
        """Height in inches: two panels, and a legend with two entries per line."""
        return 3.7 + 0.19 * ((len(self.curves) + 1) // 2)

    def paint(self, figure: Figure) -> None:
        """Fill the figure."""
        above, below = figure.subplots(2, sharex=True)
        for number, curve in enumerate(self.curves):
            color = CLASS_COLORS[number % len(CLASS_COLORS)]
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
