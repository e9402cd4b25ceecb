"""The base class of all noise: a frozen transform whose random numbers depend on its seed alone."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import numpy as np
import torch
from torch_geometric.transforms import BaseTransform

from gadc._base.scalars import check_count, check_number


@dataclass(frozen=True, kw_only=True)
class Noise(BaseTransform):  # type: ignore[misc]
    """A transform that draws random numbers.

    Numbers are drawn on the CPU from a generator of the transform's own. They depend on the kind of noise and
    on the seed, but not on the device, on torch's global random state or on other transforms. Two kinds of
    noise with the same seed draw independent numbers.

    Args:
        seed: Whole number >= 0; 0 by default.
    """

    seed: int = 0

    def __post_init__(self) -> None:
        check_count(type(self).__name__, self.seed, "seed")

    def generator(self) -> torch.Generator:
        """Return a new generator, seeded by the name of the class and by `seed`."""
        # torch keeps 32 bits of a seed, so name and seed are hashed into that many.
        words = [zlib.crc32(type(self).__name__.encode()), self.seed]
        return torch.Generator().manual_seed(int(np.random.SeedSequence(words).generate_state(1)[0]))

    def error(self, message: str) -> ValueError:
        """Return an error that names this kind of noise."""
        return ValueError(f"{type(self).__name__}: {message}")

    def check_share(self, value: float, name: str) -> None:
        """Refuse a setting that is not between 0 and 1."""
        check_number(type(self).__name__, value, name)
        if value > 1:
            raise self.error(f"{name} must be between 0 and 1, got {value!r}.")


def exact_count(rate: float, total: int) -> int:
    """Return rate times total, rounded to the nearest whole number; halves are rounded up."""
    return math.floor(rate * total + 0.5)
