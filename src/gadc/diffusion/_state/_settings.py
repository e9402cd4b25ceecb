"""The settings of a diffusion state, checked once."""

from __future__ import annotations

from dataclasses import dataclass

from gadc._base.scalars import check_choice, check_count, check_number
from gadc.diffusion._graph import NORMS
from gadc.diffusion._series import MAX_STEPS

STATE_VARIANTS = ("plain", "I", "II", "III", "IV")


@dataclass(frozen=True, kw_only=True)
class StateSettings:
    """What is diffused, and how exactly.

    Args:
        variant: "plain", "I", "II", "III" or "IV".
        lam: Strength λ >= 0 of the smoothing.
        tol: Allowed error relative to the root mean square row of F.
        num_steps: Number of steps, or None for the whole series.
        eps: Radius ε >= 0 of the adversary.
        norm: "sym" or "rw"; without effect for IV.
        self_loops: Weight of the self-loops; None is the default of the variant.
    """

    variant: str
    lam: float
    tol: float
    num_steps: int | None
    eps: float
    norm: str
    self_loops: float | None

    def __post_init__(self) -> None:
        if self.variant == "IV+":
            raise ValueError(
                "DiffusionState: variant 'IV+' searches nearest nodes among all nodes, so every change of "
                "features may change any edge; use gadc.diffuse."
            )
        check_choice("DiffusionState", self.variant, "variant", STATE_VARIANTS)
        check_number("DiffusionState", self.lam, "lam")
        check_number("DiffusionState", self.tol, "tol", strict=True)
        check_number("DiffusionState", self.eps, "eps")
        check_choice("DiffusionState", self.norm, "norm", NORMS)
        if self.self_loops is not None:
            check_number("DiffusionState", self.self_loops, "self_loops")
        if self.num_steps is not None:
            check_count("DiffusionState", self.num_steps, "num_steps", high=MAX_STEPS)
            if self.variant == "II":
                raise ValueError(
                    "DiffusionState: num_steps must be None for variant 'II', whose update rests on the "
                    f"closed form of the whole series, got {self.num_steps}."
                )

    @property
    def ratio(self) -> float:
        """ρ = λ/(λ+1)."""
        return self.lam / (self.lam + 1)

    @property
    def loop(self) -> float:
        """Weight of the self-loops."""
        default = 0.0 if self.variant == "IV" else 1.0
        return default if self.self_loops is None else float(self.self_loops)

    @property
    def has_similarity(self) -> bool:
        """Whether entries of T depend on features."""
        return self.variant == "IV" or (self.variant in ("I", "III") and self.eps > 0)

    @property
    def has_cosines(self) -> bool:
        """Whether entries of T hold cosines."""
        return self.variant in ("I", "IV") and self.has_similarity

    @property
    def is_symmetric(self) -> bool:
        """Whether T is symmetric."""
        return self.variant == "IV" or self.norm == "sym"
