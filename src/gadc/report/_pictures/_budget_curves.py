"""Accuracy against the budget of an attacker, one curve per attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gadc.report._pictures._picture import Picture
from gadc.report._style import COLORS, INK, MARKERS, PAPER, quiet, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class BudgetCurve:
    """The accuracy that one attack leaves.

    Attributes:
        label: Name of the attack.
        points: (rate, accuracy in percent) in ascending order of the rate.
    """

    label: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True)
class BudgetCurves(Picture):
    """Accuracy by rate; the thick line is the lowest accuracy, the dashed line a model without the graph.

    Attributes:
        curves: One curve per attack.
        clean: Accuracy without an attack, where all curves start.
        lowest: (rate, accuracy) under the strongest attack.
        graph_free: Accuracy of a model that no edge can hurt; None if it is unknown.
    """

    curves: tuple[BudgetCurve, ...]
    clean: float
    lowest: tuple[tuple[float, float], ...]
    graph_free: float | None

    @property
    def height(self) -> float:
        """Height in inches: a legend with two entries per line."""
        return 3.2 + 0.19 * ((len(self.curves) + 3) // 2)

    def paint(self, figure: Figure) -> None:
        """Fill the figure."""
        axes = figure.add_subplot(facecolor=PAPER)
        for number, curve in enumerate(self.curves):
            rates, values = zip((0.0, self.clean), *curve.points, strict=True)
            look: dict[str, Any] = {"color": COLORS[number % len(COLORS)], "linewidth": 1.2, "markersize": 4}
            look |= {"marker": MARKERS[number % len(MARKERS)], "label": shortened(curve.label, 28)}
            axes.plot(rates, values, **look)
        rates, values = zip((0.0, self.clean), *self.lowest, strict=True)
        axes.plot(rates, values, color=INK, linewidth=4, alpha=0.4, zorder=1, label="strongest attack")
        if self.graph_free is not None:
            label = "MLP without the graph"
            axes.axhline(self.graph_free, color=INK, linestyle="--", linewidth=1.1, label=label)
        axes.set(xlabel="flipped pairs, as a share of the edges", ylabel="test accuracy (%)")
        axes.locator_params(axis="x", nbins=6)
        quiet(axes)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
