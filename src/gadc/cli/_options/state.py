"""Options of the diffusion that `gadc update` keeps up to date."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any

from gadc.cli._options.diffusion import _option, _steps


@dataclass(frozen=True, kw_only=True)
class StateOptions:
    """The settings of a state, which are chosen when it is created."""

    variant: Annotated[str, _option("--variant", help="Variant of GADC: plain, I, II, III or IV.")] = "II"
    lam: Annotated[float, _option("--lam", help="Strength λ >= 0 of the smoothing.")] = 32.0
    num_steps: Annotated[
        int | None,
        _option(
            "--num-steps",
            parser=_steps,
            metavar="INTEGER|converged",
            help="Number K of diffusion steps, or converged for the whole series; not for variant II.",
        ),
    ] = None
    eps: Annotated[float, _option("--eps", help="Radius ε >= 0 of the adversary.")] = 1.0
    normalize: Annotated[
        str, _option("--normalize", help="Row normalisation of the features: none, l1, l2 or sum.")
    ] = "none"
    tol: Annotated[
        float,
        _option("--tol", help="Allowed error of a row, relative to the root mean square row of the result."),
    ] = 1e-3

    def settings(self) -> dict[str, Any]:
        """Return the settings by name."""
        return asdict(self)

    def refuse(self) -> None:
        """Refuse settings for a state that exists."""
        for one in fields(self):
            if getattr(self, one.name) != one.default:
                raise ValueError(
                    f"--{one.name.replace('_', '-')} is chosen when a state is created; this state exists."
                )
