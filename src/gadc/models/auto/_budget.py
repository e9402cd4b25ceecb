"""Time: how much of it is left, and how long one step of the work took."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field


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
