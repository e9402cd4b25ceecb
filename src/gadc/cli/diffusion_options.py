"""The options that choose a diffusion."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer

_option = partial(typer.Option, rich_help_panel="Diffusion")


@dataclass(frozen=True, kw_only=True)
class DiffusionOptions:
    """Settings of S, with the defaults of the estimators.

    No variant is best everywhere: II is the paper's choice for noisy features, and `gadc fit` prints what the
    features alone and ε = 0 would have done.
    """

    variant: Annotated[str, _option("--variant", help="plain, I, II, III or IV.")] = "II"
    lam: Annotated[float, _option("--lam", help="Strength λ of the smoothing.")] = 32.0
    steps: Annotated[int, _option("--steps", help="Hops K.")] = 16
    eps: Annotated[float, _option("--eps", help="Radius ε of the adversary.")] = 1.0
    normalize: Annotated[
        str, _option("--normalize", help="Rows of the features first: none, l1, l2 or sum.")
    ] = "none"
    rtol: Annotated[float | None, _option("--rtol", help="Allowed relative error; exact sum if absent.")] = (
        None
    )

    def settings(self) -> dict[str, Any]:
        """The settings as the estimators name them."""
        return {
            "variant": self.variant,
            "lam": self.lam,
            "num_steps": self.steps,
            "eps": self.eps,
            "normalize": self.normalize,
            "rtol": self.rtol,
        }
