"""All kinds of noise by name."""

from __future__ import annotations

from typing import Any

from gadc._base.scalars import check_choice
from gadc.transforms.noise._edges import EdgeAddition, EdgeRemoval, EdgeRewiring
from gadc.transforms.noise._features import FeatureFlip, FeatureMask, GaussianNoise
from gadc.transforms.noise._labels import LabelNoise
from gadc.transforms.noise._noise import Noise

NOISES: dict[str, type[Noise]] = {
    "gaussian-noise": GaussianNoise,
    "feature-flip": FeatureFlip,
    "feature-mask": FeatureMask,
    "edge-addition": EdgeAddition,
    "edge-removal": EdgeRemoval,
    "edge-rewiring": EdgeRewiring,
    "label-noise": LabelNoise,
}


def make_noise(name: str, **settings: Any) -> Noise:
    """Build noise from its name, as tables of experiments and the command line do.

    Args:
        name: A key of `NOISES`, such as "gaussian-noise".
        **settings: Arguments of that class.

    Returns:
        The transform.

    Raises:
        ValueError: There is no such noise, or it has no such setting.

    Examples:
        >>> from gadc.transforms import make_noise
        >>> make_noise("gaussian-noise", level=0.1, seed=3)
        GaussianNoise(seed=3, level=0.1)
    """
    check_choice("make_noise", name, "name", tuple(NOISES))
    try:
        return NOISES[name](**settings)
    except TypeError as error:
        raise ValueError(f"make_noise: bad settings for {name!r}: {error}.") from error
