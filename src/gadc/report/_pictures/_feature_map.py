"""Nodes in the plane before and after diffusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gadc.report._pictures._picture import Floats, Ints, Picture
from gadc.report._style import CLASS_COLORS, GREY, PAPER, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class FeatureMap(Picture):
    """Nodes at the two main directions of X and, beside it, at the two main directions of S X.

    Attributes:
        before: Positions of the nodes from X, shape (k, 2).
        after: Positions of the same nodes from S X.
        codes: Position of each node's class in `classes`; -1 without a class.
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
        axes.scatter(x[nameless], y[nameless], s=6, color=GREY, alpha=0.35, linewidths=0)
        for code, name in enumerate(self.classes):
            here = self.codes == code
            color = CLASS_COLORS[code % len(CLASS_COLORS)]
            label = shortened(name, 12) if len(self.classes) <= len(CLASS_COLORS) else None
            if label is not None and label.startswith("_"):
                label = f" {label}"  # matplotlib leaves names out that start with an underscore
            axes.scatter(x[here], y[here], s=9, color=color, alpha=0.75, linewidths=0, label=label)
        axes.set(xticks=[], yticks=[], facecolor=PAPER)
        axes.spines[:].set_alpha(0.4)
