"""The options that choose a diffusion."""

from dataclasses import dataclass, fields
from functools import partial
from typing import Annotated, Any

import typer

_option = partial(typer.Option, rich_help_panel="Diffusion")


@dataclass(frozen=True, kw_only=True)
class DiffusionOptions:
    """Settings of S."""

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


@dataclass(frozen=True, kw_only=True)
class ClassifierOptions(DiffusionOptions):
    """Settings of S where labels may choose them."""

    variant: Annotated[
        str,
        _option("--variant", help="auto (compares all, and the features alone), plain, I, II, III or IV."),
    ] = "auto"

    @property
    def unread(self) -> list[str]:
        """Options that were given although "auto" chooses those settings by itself."""
        if self.variant != "auto":
            return []
        return [f"--{one.name}" for one in fields(self) if getattr(self, one.name) != one.default]
