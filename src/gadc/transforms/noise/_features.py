"""Noise on the features of all nodes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.scalars import check_number
from gadc.transforms.noise._noise import Noise


@dataclass(frozen=True, kw_only=True)
class _FeatureNoise(Noise):
    """Noise on `x`."""

    def features(self, data: Data) -> Tensor:
        """Return the features of `data`, or refuse it if it has none."""
        if not isinstance(data.x, Tensor):
            raise self.error(f"data must have features x, got {type(data.x).__name__}.")
        return data.x


@dataclass(frozen=True, kw_only=True)
class GaussianNoise(_FeatureNoise):
    """Add Gaussian noise to every feature of every node: X + ξ N with N standard normal.

    Features that are whole numbers become floats.

    Args:
        level: Standard deviation ξ >= 0 of the noise.
        seed: Whole number >= 0; 0 by default.

    Shapes:
        - `x`: (nodes, features), before and after

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from gadc.transforms import GaussianNoise
        >>> data = Data(x=torch.ones(1000, 4))
        >>> noisy = GaussianNoise(level=0.5, seed=1)(data)
        >>> round(float((noisy.x - data.x).std()), 1)
        0.5
    """

    level: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("GaussianNoise", self.level, "level")

    def forward(self, data: Data) -> Data:
        """Replace `x` by noisy features."""
        x = self.features(data)
        x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
        noise = torch.randn(x.shape, generator=self.generator(), dtype=x.dtype)
        data.x = x + self.level * noise.to(x.device)
        return data


@dataclass(frozen=True, kw_only=True)
class _EntryNoise(_FeatureNoise):
    """Noise that changes each entry of `x` with the same probability."""

    probability: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_share(self.probability, "probability")

    def chosen(self, x: Tensor) -> Tensor:
        """Draw the entries to change, a boolean mask of the shape of `x`."""
        return (torch.rand(x.shape, generator=self.generator()) < self.probability).to(x.device)


@dataclass(frozen=True, kw_only=True)
class FeatureFlip(_EntryNoise):
    """Flip each feature with probability p: a zero becomes 1, anything else becomes 0.

    This is the flipping noise of the paper's appendix. With weighted words (TF-IDF), too, a word that is
    absent gets the value 1 and a word that is present gets 0.

    Args:
        probability: Probability p of a flip, between 0 and 1.
        seed: Whole number >= 0; 0 by default.

    Shapes:
        - `x`: (nodes, features), before and after

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from gadc.transforms import FeatureFlip
        >>> FeatureFlip(probability=1.0)(Data(x=torch.tensor([[0.0, 0.7, 1.0]]))).x
        tensor([[1., 0., 0.]])
    """

    def forward(self, data: Data) -> Data:
        """Replace `x` by flipped features."""
        x = self.features(data)
        data.x = torch.where(self.chosen(x), (x == 0).to(x.dtype), x)
        return data


@dataclass(frozen=True, kw_only=True)
class FeatureMask(_EntryNoise):
    """Set each feature to zero with a given probability.

    Args:
        probability: Probability of a zero, between 0 and 1.
        seed: Whole number >= 0; 0 by default.

    Shapes:
        - `x`: (nodes, features), before and after

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from gadc.transforms import FeatureMask
        >>> masked = FeatureMask(probability=0.25, seed=2)(Data(x=torch.ones(1000, 10)))
        >>> round(float(masked.x.mean()), 2)
        0.75
    """

    def forward(self, data: Data) -> Data:
        """Replace `x` by masked features."""
        x = self.features(data)
        data.x = x.masked_fill(self.chosen(x), 0)
        return data
