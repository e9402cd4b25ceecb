"""Options that choose a diffusion."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Annotated, Any

import typer

from gadc.cli._options.names import VARIANTS

_option = partial(typer.Option, rich_help_panel="Diffusion")
_auto_option = partial(typer.Option, rich_help_panel="Comparison of models (auto)")


def _steps(text: str) -> int | None:
    """Read a number of steps; "converged" is None, the whole series."""
    if text == "converged":
        return None
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"must be a whole number or converged, got {text!r}.") from None


@dataclass(frozen=True, kw_only=True)
class DiffusionOptions:
    """The settings of the diffusion S, by the names of the estimators."""

    variant: Annotated[str, _option("--variant", help=f"Variant of GADC: {', '.join(VARIANTS)}.")] = "II"
    lam: Annotated[float, _option("--lam", help="Strength λ >= 0 of the smoothing.")] = 32.0
    num_steps: Annotated[
        int | None,
        _option(
            "--num-steps",
            parser=_steps,
            metavar="INTEGER|converged",
            help="Number K of diffusion steps, or converged for the whole series.",
        ),
    ] = 16
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
            help="Variant of GADC: auto (compare many models with and without the graph on held-out labels), "
            f"{', '.join(VARIANTS)}.",
        ),
    ] = "auto"
    time_budget: Annotated[
        float, _auto_option("--time-budget", help="Seconds that auto may take; 0 is without a limit.")
    ] = 60.0
    scoring: Annotated[
        str | None,
        _auto_option(
            "--scoring",
            help="Metric that decides, by its name in scikit-learn, such as balanced_accuracy, "
            "average_precision, roc_auc, f1 or log_loss. Default: accuracy, or with two classes of which one "
            "is rare the average precision of that class.",
        ),
    ] = None
    robust: Annotated[
        str | None,
        typer.Option(
            "--robust",
            help="Model for edges that may be attacked: balanced, poisoning (edges changed before training) "
            "or evasion (edges changed after training). It replaces --variant. Default: none.",
        ),
    ] = None
    class_weight: Annotated[
        str | None,
        typer.Option(
            "--class-weight",
            help="Weight of the classes in training: balanced, so that rare classes count as much as common "
            "ones. Default: every label counts the same.",
        ),
    ] = None

    def settings(self) -> dict[str, Any]:
        """Return the settings by name, as the classifier takes them."""
        return {**asdict(self), "time_budget": self.time_budget or None}

    @property
    def is_auto(self) -> bool:
        """Whether models are compared."""
        return self.variant == "auto" and self.robust is None

    def ignored(self, **others: bool) -> list[str]:
        """Return the given options that have no effect.

        "auto" and robust models choose the settings of the diffusion themselves; a single variant is not
        compared with others.

        Args:
            **others: Whether a further option was given that "auto" ignores, by its name.
        """
        diffusion = [one.name for one in fields(DiffusionOptions) if one.name != "variant"]
        idle = diffusion if self.variant == "auto" else ["time_budget", "scoring"]
        if self.robust is not None:
            idle = ["variant", *diffusion, "time_budget", "scoring", "class_weight"]
        default = {one.name: one.default for one in fields(self)}
        changed = [name for name in idle if getattr(self, name) != default[name]]
        if self.variant == "auto" or self.robust is not None:
            changed += [name for name, given in others.items() if given]
        return [f"--{name.replace('_', '-')}" for name in changed]
