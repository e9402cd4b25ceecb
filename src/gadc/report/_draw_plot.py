"""Draw the curves of a table as SVG or PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from gadc.report._curves import Curve, Plot
from gadc.report._style import COLORS, MARKERS, PAPER, quiet, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_plot(plot: Plot, kind: Literal["svg", "png"]) -> bytes:
    """Draw our curves with bars of one standard deviation, and the published curves dashed.

    Equal plots give equal bytes.
    """

    def paint(figure: Figure) -> None:
        _fill(figure.add_subplot(facecolor=PAPER), plot)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)

    legend_lines = (len(plot.curves) + 1) // 2
    return render(paint, (4.8, 3.1 + 0.19 * legend_lines), name=plot.name, kind=kind)


def _fill(axes: Axes, plot: Plot) -> None:
    ticks = plot.ticks
    places = {x: float(i) if plot.categorical else x for i, x in enumerate(ticks)}
    for curve in plot.curves:
        _line(axes, curve, places)
    axes.set_xticks([places[x] for x in ticks], [f"{x:g}" for x in ticks])
    axis = f"{plot.axis} (not to scale)" if plot.categorical else plot.axis
    axes.set(xlabel=axis, ylabel="test accuracy (%)")
    axes.set_title(plot.title, fontsize=10)
    quiet(axes)


def _line(axes: Axes, curve: Curve, places: dict[float, float]) -> None:
    x, means, stds = zip(*curve.points, strict=True)
    look: dict[str, Any] = {"color": COLORS[curve.color % len(COLORS)], "label": curve.label}
    if curve.published:
        look |= {"linestyle": "--", "linewidth": 1.2}
    else:
        look |= {"marker": MARKERS[curve.color % len(MARKERS)], "markersize": 4, "linewidth": 1.4}
        look |= {"yerr": [std or 0.0 for std in stds], "elinewidth": 0.9, "capsize": 2}
    axes.errorbar([places[level] for level in x], means, **look)
