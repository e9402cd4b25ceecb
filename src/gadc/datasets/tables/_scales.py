"""What features are measured by: means and deviations, or medians and quartiles.

Columns of a user's table have units of their own: an income would outweigh an age a thousandfold. Features
that are 0 or 1 are counted as they are, because their unit is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gadc._base.deferred import deferred

if TYPE_CHECKING:
    from torch import Tensor

with deferred():
    import torch


_BLOCK = 64  # columns that are converted to double precision at a time
_MAX_RATIO = 10.0  # ratio of two units above which features are standardised by default
_NORMAL = 1.349  # distance of the quartiles of a normal distribution of deviation 1
_FAR = 20.0  # distance from the median, in deviations, above which a column has a heavy tail


@dataclass(frozen=True, kw_only=True)
class Scales:
    """What is subtracted from and divides each column of `x`, and which columns are compressed after that."""

    centre: list[float]
    unit: list[float]
    compress: list[bool]


def differ_in_scale(x: Tensor) -> bool:
    """Tell whether the units of features differ so much that some would outweigh the others."""
    if x.layout != torch.strided or not x.numel():
        return False
    units = x.double().std(0, correction=0)
    units = torch.where(is_binary(x), 0.5, units)[x.amin(0) < x.amax(0)]
    return bool(len(units)) and bool(units.max() > _MAX_RATIO * units.min())


def is_binary(x: Tensor) -> Tensor:
    """Tell which features are 0 or 1 everywhere."""
    return ((x == 0) | (x == 1)).all(0)


def mean_scales(x: Tensor) -> Scales:
    """Measure features by mean and standard deviation; a constant feature keeps its unit."""
    means, deviations = list[float](), list[float]()
    for start in range(0, x.shape[1], _BLOCK):
        part = x[:, start : start + _BLOCK]
        same, exact = part.amin(0) == part.amax(0), part.double()
        means += torch.where(same, exact[0], exact.mean(0)).tolist()
        deviation = exact.std(0, correction=0)
        deviations += torch.where(same | (deviation <= 0), 1.0, deviation).tolist()
    return Scales(centre=means, unit=deviations, compress=[False] * len(means))


def robust_scales(x: Tensor) -> Scales:
    """Measure features by median and quartiles; one with values far away is compressed after that."""
    plain = mean_scales(x)
    centre, unit, compress = list[float](), list[float](), list[bool]()
    for at, column in enumerate(x.double().numpy().T):
        low, middle, high = np.quantile(column, (0.25, 0.5, 0.75)).tolist()
        width = (high - low) / _NORMAL
        if not width > 0:  # most values are the same
            width, middle = plain.unit[at], plain.centre[at]
        centre.append(middle)
        unit.append(width)
        compress.append(bool(np.abs(column - middle).max() > _FAR * width))
    return Scales(centre=centre, unit=unit, compress=compress)


def by_block(x: Tensor, change: Any) -> Tensor:
    """Change columns in double precision, a few at a time, and return them in the type of `x`."""
    changed = torch.empty_like(x)
    for start in range(0, x.shape[1], _BLOCK):
        where = slice(start, start + _BLOCK)
        changed[:, where] = change(x[:, where].double(), where).to(x.dtype)
    return changed
