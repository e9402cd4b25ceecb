"""Edge weights on a scale that diffusion can bear.

Amounts of money span many orders of magnitude. A few huge ones would then be the whole graph: the degree of
their ends, and the spectral radius of variants that do not normalise by degrees.

    log    log2(1 + w / u), u the median of the weights: the median keeps weight 1, a thousandfold has 10
    rank   about the share of the weights that are at most w, between 0 and 1
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gadc._base.deferred import deferred

if TYPE_CHECKING:
    from torch import Tensor

with deferred():
    import torch


WEIGHT_SCALES = ("none", "log", "rank", "auto")
_HEAVY = 100.0  # largest weight by the median above which "auto" takes logarithms
_POINTS = 101  # quantiles by which the weights of another graph are ranked


@dataclass(frozen=True, kw_only=True)
class WeightScale:
    """How the weights of a graph are compressed, fitted once and applied to every later graph.

    Args:
        kind: "log" or "rank".
        points: The median for "log"; quantiles from 0 to 1 in equal steps for "rank".

    Examples:
        >>> import torch
        >>> scale = fit_weights(torch.tensor([1.0, 10.0, 1e6]), "auto")
        >>> scale.kind, scale.apply(torch.tensor([10.0, 70.0])).tolist()
        ('log', [1.0, 3.0])
    """

    kind: str
    points: tuple[float, ...]

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> WeightScale:
        """Return the scale that `to_dict` described; a ValueError says what is wrong with it."""
        kind, points = str(values.get("kind")), values.get("points")
        listed = list(points) if isinstance(points, list | tuple) else []
        good = kind in ("log", "rank") and all(
            type(one) in (int, float) and 0 < one < math.inf for one in listed
        )
        if not good or not listed or (kind == "log" and len(listed) > 1):
            raise ValueError(
                "WeightScale: kind must be 'log' with one number > 0 or 'rank' with several, "
                f"got {str(values)[:60]!r}."
            )
        return cls(kind=kind, points=tuple(map(float, listed)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return asdict(self)

    def apply(self, weight: Tensor) -> Tensor:
        """Return the compressed weights; a weight of 0 stays 0, and a negative weight keeps its sign."""
        exact, sign = weight.double().abs(), weight.sign()
        if self.kind == "log":
            return sign * torch.log2(1 + exact / self.points[0]).to(weight.dtype)
        share = np.linspace(1 / len(self.points), 1, len(self.points))
        ranks = torch.from_numpy(np.interp(exact.numpy(), self.points, share))
        return sign * ranks.to(weight.dtype)

    def describe(self) -> str:
        """Say in one line what was done."""
        if self.kind == "log":
            return f"weights were compressed to log2(1 + w / {self.points[0]:.6g}), since a few are huge"
        return "weights were replaced by their ranks between 0 and 1"


def fit_weights(weight: Tensor | None, kind: str) -> WeightScale | None:
    """Choose the scale of the weights of a graph; None if they stay as they are."""
    if weight is None or kind == "none":
        return None
    positive = weight[weight != 0].double().abs().numpy()
    if not len(positive):
        return None
    median = float(np.median(positive))
    if kind == "auto":
        if float(positive.max()) <= _HEAVY * median:
            return None
        kind = "log"
    if kind == "log":
        return WeightScale(kind="log", points=(median,))
    return WeightScale(kind="rank", points=tuple(np.quantile(positive, np.linspace(0, 1, _POINTS)).tolist()))
