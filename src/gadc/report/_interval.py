"""Confidence interval of an accuracy."""

from __future__ import annotations

import math


def wilson_interval(share: float, count: int) -> tuple[float, float]:
    """Compute the 95 % interval of a share seen in `count` trials (Wilson, JASA 1927)."""
    z = 1.959964
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(centre - half, 0.0), min(centre + half, 1.0)
