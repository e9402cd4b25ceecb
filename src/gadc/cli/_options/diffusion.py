"""Options that choose a diffusion."""

from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Annotated, Any

import typer

from gadc.diffusion import VARIANTS

_option = partial(typer.Option, rich_help_panel="Diffusion")


@dataclass(frozen=True, kw_only=True)
class DiffusionOptions:
    """The settings of the diffusion S, by the names of the estimators."""

    variant: Annotated[str, _option("--variant", help=f"Variant of GADC: {', '.join(VARIANTS)}.")] = "II"
    lam: Annotated[float, _option("--lam", help="Strength λ >= 0 of the smoothing.")] = 32.0
    num_steps: Annotated[int, _option("--num-steps", help="Number K of diffusion steps.")] = 16
    eps: Annotated[float, _option("--eps", help="Radius ε >= 0 of the adversary.")] = 1.0
    normalize: Annotated[
        str, _option("--normalize", help="Row normalisation of the features: none, l1, l2 or sum.")
    ] = "none"
    rtol: Annotated[
        float | None, _option("--rtol", help="Allowed relative error. Default: sum the series directly.")
    ] = None

    def settings(self) -> dict[str, Any]:
        """Return the settings by name."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class ClassifierOptions(DiffusionOptions):
    """The settings of the diffusion where labels may choose them."""

    variant: Annotated[
        str,
        _option(
            "--variant",
            help="Variant of GADC: auto (compare all variants and the features alone on held-out labels), "
            f"{', '.join(VARIANTS)}.",
        ),
    ] = "auto"

    @property
    def ignored(self) -> list[str]:
        """Return the given options that "auto" ignores, since it chooses these settings itself."""
        if self.variant != "auto":
            return []
        changed = [one.name for one in fields(self) if getattr(self, one.name) != one.default]
        return [f"--{name.replace('_', '-')}" for name in changed]
