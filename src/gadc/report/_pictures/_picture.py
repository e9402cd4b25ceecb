"""What all pictures of a run have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gadc.report._style import render

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]

WIDTH = 4.4  # inches; narrow, so that letters stay readable on a phone


@dataclass(frozen=True, kw_only=True)
class Picture(ABC):
    """A picture and how to read it.

    Attributes:
        title: Heading.
        caption: What the marks mean, and what was left out.
    """

    title: str
    caption: str = ""

    @property
    def height(self) -> float:
        """Height in inches."""
        return 3.0

    def svg(self) -> str:
        """Draw the picture as an SVG file; needs matplotlib."""
        size = (WIDTH, self.height)
        return render(self.paint, size, name=f"{type(self).__name__} {self.title}", kind="svg").decode()

    @abstractmethod
    def paint(self, figure: Figure) -> None:
        """Fill the figure."""
