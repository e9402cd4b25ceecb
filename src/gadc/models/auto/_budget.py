"""What a choice may cost: seconds that are left, and a forecast of the memory."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

LIBRARIES = 400e6  # bytes of small graphs, mostly code that is loaded on the way
_COPIES = 12  # matrices of n rows and few columns that are in memory at once
_PER_EDGE, _PER_FEATURE = 60, 24  # bytes


def forecast_memory(num_nodes: int, width: int, num_edges: int, num_features: int) -> float:
    """Return the bytes that a choice takes beside the graph itself, roughly.

    Args:
        num_nodes: Number of nodes.
        width: Number of columns that candidates read.
        num_edges: Number of listed edges.
        num_features: Number of entries of X that are stored: all of a dense matrix, the others of a sparse.

    Examples:
        >>> from gadc.models.auto._budget import forecast_memory
        >>> f"{forecast_memory(1_000_000, 32, 20_000_000, 32_000_000) / 1e9:.1f} GB"
        '3.9 GB'
    """
    return LIBRARIES + 4.0 * _COPIES * num_nodes * width + _PER_EDGE * num_edges + _PER_FEATURE * num_features


@dataclass
class Budget:
    """A number of seconds to spend, counted from the creation of this object.

    Args:
        seconds: The budget; None is without a limit, and then nothing depends on the speed of the machine.
    """

    seconds: float | None
    start: float = field(default_factory=time.monotonic, init=False)

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    @property
    def left(self) -> float:
        """Seconds that are left; infinite without a limit."""
        return math.inf if self.seconds is None else self.seconds - self.spent

    def until(self, share: float) -> float:
        """Return the moment, as `time.monotonic` counts, at which this share of the budget is spent."""
        return math.inf if self.seconds is None else self.start + share * self.seconds
