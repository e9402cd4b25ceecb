"""What a diffusion over a packed graph is to compute."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from gadc._base.scalars import check_choice, check_number
from gadc.diffusion import NORMALIZATIONS, make_transition, neumann
from gadc.diffusion._converged import expected_products
from gadc.diffusion._transitions import VARIANTS


@dataclass(frozen=True, kw_only=True)
class DiffusionSettings:
    """Settings of a diffusion; names and defaults are those of `gadc.diffuse`.

    Args:
        variant: "plain", "I", "II" (the default), "III", "IV" or "IV+".
        lam: Strength λ >= 0 of the smoothing, 32 by default.
        num_steps: Number of steps K of the series, 16 by default; None sums the whole series, see
            `gadc.diffusion.converged`.
        eps: Radius ε >= 0 of the adversary, 1 by default.
        norm: "sym" or "rw"; by default the one of the variant.
        self_loops: Weight of the self-loops; by default the one of the variant.
        rtol: Allowed relative error of every slab of columns; by default the series is summed directly, and
            the whole series has an error of at most 1e-3.
        normalize: Row normalisation of the features: "sum", "l1", "l2" or "none", the default.
        use_weights: Take the weights of the edges, the default; otherwise all edges weigh 1.
        means: What is subtracted from each column of X before all else; None by default, nothing.
        deviations: What each column is divided by after that; goes with `means`.
    """

    variant: str = "II"
    lam: float = 32.0
    num_steps: int | None = 16
    eps: float = 1.0
    norm: str | None = None
    self_loops: float | None = None
    rtol: float | None = None
    normalize: str = "none"
    use_weights: bool = True
    means: tuple[float, ...] | None = None
    deviations: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_choice("diffuse", self.variant, "variant", tuple(VARIANTS))
        check_choice("diffuse", self.normalize, "normalize", NORMALIZATIONS)
        if self.rtol is not None:
            check_number("diffuse", self.rtol, "rtol", strict=True)
        self.transition(directed=False)
        self.theta()

    def transition(self, *, directed: bool) -> Any:
        """Return the transition object, which knows all settings of the variant."""
        return make_transition(
            self.variant, eps=self.eps, norm=self.norm, self_loops=self.self_loops, directed=directed
        )

    def theta(self) -> list[float]:
        """Return the coefficients of the series; of the whole series the first one alone."""
        return neumann(self.lam, 0 if self.num_steps is None else self.num_steps)

    @property
    def expected_steps(self) -> int:
        """Number of products per slab, of the whole series a forecast."""
        return expected_products(self.lam, self.rtol) if self.num_steps is None else self.num_steps

    def to_dict(self) -> dict[str, Any]:
        """Return the settings for a note."""
        lists = {name: list(getattr(self, name) or ()) for name in ("means", "deviations")}
        return {**asdict(self), **lists}
