"""The push of `_loops` in plain Python, on a dense T: what the compiled loops are tested against.

while some row |R_i| > θ v_i:    F_i += R_i;  R += ρ T[:, i] R_i;  R_i -= R_i
"""

from __future__ import annotations

from collections import deque

import numpy as np

from gadc.diffusion._state._arrays import Array


def push(
    features: Array, rests: Array, transition: Array, ratio: float, limit: float, size: Array
) -> tuple[Array, Array, int]:
    """Push rows in the order in which they rise above the limit.

    Args:
        features: F, shape (n, d).
        rests: R, shape (n, d), in float64.
        transition: T, shape (n, n).
        ratio: ρ.
        limit: θ.
        size: v, shape (n,).

    Returns:
        The new F and R, and the number of pushes.
    """
    features, rests = features.copy(), rests.copy()
    waiting = deque(np.flatnonzero(np.linalg.norm(rests, axis=1) > limit * size).tolist())
    pushes = 0
    while waiting:
        i = waiting.popleft()
        before = features[i].astype(np.float64)
        features[i] = before + rests[i]
        delta = features[i].astype(np.float64) - before
        if not delta.any():
            continue
        pushes += 1
        rests[i] -= delta
        rests += ratio * np.outer(transition[:, i], delta)
        above = np.flatnonzero(np.linalg.norm(rests, axis=1) > limit * size)
        waiting.extend(j for j in above.tolist() if j not in waiting)
    return features, rests, pushes
