"""Plots as SVG and PNG."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

from gadc._base.extras import require
from gadc.report._curves import Curve, Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#3b4048"  # text and axes
PAPER = (
    "#fefefe"  # background; an almost white that no library writes by itself, so that a page can replace it
)
# Mid tones, told apart on white, on black and by most colour-blind readers.
COLORS = ("#3a86c8", "#e07a2f", "#2fa37c", "#c4569c", "#8c72d4", "#b3962a", "#d1545a", "#7c8794")
_INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
_STYLE: dict[Any, Any] = {
    **dict.fromkeys(_INKED, INK),
    "font.size": 9,
    "svg.fonttype": "none",
    "text.parse_math": False,
}
_MARKERS = "osD^vPX*"


def draw(plot: Plot, kind: Literal["svg", "png"]) -> bytes:
    """Draw ours with bars of one standard deviation, the paper's dashed; equal plots give equal bytes."""

    def paint(figure: Figure) -> None:
        _fill(figure.add_subplot(facecolor=PAPER), plot)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)

    legend_lines = (len(plot.curves) + 1) // 2
    return render(paint, (4.8, 3.1 + 0.19 * legend_lines), name=plot.name, kind=kind)


def render(
    paint: Callable[[Figure], None], size: tuple[float, float], *, name: str, kind: Literal["svg", "png"]
) -> bytes:
    """A picture in the style of the reports; the same painting under the same name gives the same bytes.

    Args:
        paint: Fills the figure.
        size: Width and height in inches.
        name: Told apart by it, the parts of several pictures can stand in one page.
        kind: The format.

    Raises:
        ImportError: matplotlib is missing.
    """
    require("matplotlib", "report")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
        paint(figure)
        picture = BytesIO()
        # Dates and versions would make equal pictures differ.
        stamps = ("Date", "Creator", "Format", "Type") if kind == "svg" else ("Software",)
        figure.savefig(picture, format=kind, dpi=160, metadata=dict.fromkeys(stamps))
    return picture.getvalue()


def quiet(axes: Axes) -> None:
    """Only the lines that help reading."""
    axes.grid(axis="y", color="#808080", alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


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
        look |= {"marker": _MARKERS[curve.color % len(_MARKERS)], "markersize": 4, "linewidth": 1.4}
        look |= {"yerr": [std or 0.0 for std in stds], "elinewidth": 0.9, "capsize": 2}
    axes.errorbar([places[level] for level in x], means, **look)
