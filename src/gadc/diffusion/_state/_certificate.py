"""Bounds on the error of F, from the rests of all levels.

In the norm max_i ‖E_i‖ / v_i, with t = ‖T‖ and r_k the bound on R of level k,

    whole series:    ‖F - F*‖ <= r / (1 - ρ t)
    K steps:         ‖F - F*‖ <= Σ_k (ρ t)^(K-k) r_k

III holds its scale 1/‖X Xᵀ‖_F at a former value while X changes, and II holds its d × d matrix. What that
costs is added; see `scale_drift` and `GramTurn`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadc.diffusion._state._arrays import Array
from gadc.diffusion._state._engine import Engine

PUSH_SHARE = 0.5  # of the tolerance, for the rows that an update leaves below the limit


def series_bound(engine: Engine) -> float:
    """Bound the error of F, apart from scales that are held."""
    gain = engine.settings.ratio * engine.norm_of_t
    if engine.settings.num_steps is None:
        return engine.levels[0].rest / (1 - gain) if gain < 1 else np.inf
    total = 0.0
    for level in engine.levels:
        total = total * gain + level.rest
    return total


def limits(engine: Engine, allowed: float) -> list[float]:
    """Return θ of every level: what a row may keep, so that all rows together keep their share."""
    gain = engine.settings.ratio * engine.norm_of_t
    if engine.settings.num_steps is None:
        return [PUSH_SHARE * allowed * max(1 - gain, 0.0)]
    steps = engine.settings.num_steps
    share = PUSH_SHARE * allowed / (steps + 1)
    return [share / max(gain ** (steps - k), 1e-30) for k in range(steps + 1)]


def scale_drift(engine: Engine, largest: float) -> float:
    """Bound the error of III from its scale, which is held while X changes.

    With T* of the present scale and φ = ‖T - Â‖, F - F* = (I - ρ T*)^-1 ρ (T - T*) F.

    Args:
        engine: The numbers.
        largest: Bound on |F_i| / v_i.
    """
    settings = engine.settings
    if settings.variant != "III" or not engine.needs_gram:
        return 0.0
    quotient = settings.eps / (float(np.linalg.norm(engine.gram)) * abs(engine.similar))
    steps, phi = settings.num_steps, engine.norm_of_t - 1
    change = settings.ratio * abs(quotient - 1) * phi * largest
    gain = settings.ratio * (1 + phi * max(quotient, 1.0))
    if steps is None:
        return change / (1 - gain) if gain < 1 else np.inf
    return change * sum(gain**k for k in range(steps))


@dataclass(eq=False)
class GramTurn:
    """GADC (II) as plain diffusion times a d × d matrix.

        F = P M,    P = (I - ρ Â)^-1 X / (λ+1),    M = (I + ρ c (λ+1) Xᵀ P)^-1,    c = ε / ‖X Xᵀ‖_F

    Attributes:
        cross: Xᵀ P of the present P.
        held: The M that F is computed with, which is renewed before its drift matters.
    """

    cross: Array
    held: Array

    def present(self, engine: Engine) -> Array:
        """Compute M of the present numbers."""
        settings = engine.settings
        scale = settings.ratio * settings.eps * (settings.lam + 1) / float(np.linalg.norm(engine.gram))
        inverse: Array = np.linalg.inv(np.eye(len(self.cross)) + scale * self.cross)
        return inverse

    def sensitivity(self, engine: Engine) -> float:
        """Bound how much an error of 1 in P, in the norm, changes I + ρ c (λ+1) Xᵀ P."""
        settings = engine.settings
        size = float(np.linalg.norm(engine.gram))
        scale = settings.ratio * settings.eps * (settings.lam + 1) / size
        return float(scale * np.sqrt(np.linalg.norm(engine.gram, 2) * engine.sum_of_squares))

    def bound(self, engine: Engine, plain: float, largest: float) -> float:
        """Bound the error of F = P M.

        Args:
            engine: The numbers.
            plain: Bound on the error of P.
            largest: Bound on |P_i| / v_i.
        """
        present = self.present(engine)
        size, off = float(np.linalg.norm(present, 2)), self.sensitivity(engine) * plain
        if not size * off < 1:
            return np.inf
        turned = size**2 * off / (1 - size * off) + float(np.linalg.norm(present - self.held, 2))
        return float(np.linalg.norm(self.held, 2)) * plain + (largest + plain) * turned
