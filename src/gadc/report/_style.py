"""The style of all pictures: colours, and how a figure becomes SVG or PNG."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

from gadc._base.extras import require
from gadc._base.text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#3b4048"  # text and axes
# Background: an almost white that no library writes by itself, so that a page can replace it.
PAPER = "#fefefe"
# Mid tones that can be told apart on white, on black and by most colour-blind readers.
COLORS = ("#3a86c8", "#e07a2f", "#2fa37c", "#c4569c", "#8c72d4", "#b3962a", "#d1545a", "#7c8794")
BLUE, ORANGE, GREY = COLORS[0], COLORS[1], COLORS[7]
CLASS_COLORS = (*COLORS[:7], "#5bb8c4", "#9a6b4b", "#6b8e23")
MARKERS = "osD^vPX*"

_INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
_STYLE: dict[Any, Any] = {
    **dict.fromkeys(_INKED, INK),
    "font.size": 9,
    "svg.fonttype": "none",
    "text.parse_math": False,
}


def render(
    paint: Callable[[Figure], None], size: tuple[float, float], *, name: str, kind: Literal["svg", "png"]
) -> bytes:
    """Draw a picture in the style of the reports; the same painting under the same name gives the same bytes.

    Args:
        paint: Fills the figure.
        size: Width and height in inches.
        name: Name that makes the ids of the parts unique, so that several pictures can stand in one page.
        kind: Format of the picture.

    Raises:
        ImportError: matplotlib is missing.
    """
    require("matplotlib", "report")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({**_STYLE, "svg.hashsalt": name}), warnings.catch_warnings():
        # An SVG holds text, and the reader's program has fonts for all scripts.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained", facecolor=PAPER)
        paint(figure)
        picture = BytesIO()
        # Dates and versions would make equal pictures differ.
        stamps = ("Date", "Creator", "Format", "Type") if kind == "svg" else ("Software",)
        figure.savefig(picture, format=kind, dpi=160, metadata=dict.fromkeys(stamps))
    return picture.getvalue()


def quiet(axes: Axes) -> None:
    """Keep only the lines that help reading."""
    axes.grid(axis="y", color="#808080", alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def shortened(text: str, limit: int) -> str:
    """Cut a text that would take too much room in a picture, and write it in one line."""
    text = " ".join(visible(text[:1000]).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
