"""Noise on the labels of training nodes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import distinct_numbers
from gadc.transforms.noise._noise import Noise, exact_count


@dataclass(frozen=True, kw_only=True)
class LabelNoise(Noise):
    """Give a share of the labelled training nodes another class, drawn uniformly.

    `clean_y` keeps the labels from before the first noise on labels.

    Args:
        rate: Share of the labelled training nodes, between 0 and 1.
        seed: Whole number >= 0; 0 by default.

    Shapes:
        - `y`: (nodes,), before and after; `train_mask`: (nodes,)

    Examples:
        >>> from gadc.datasets import csbm
        >>> from gadc.transforms import LabelNoise
        >>> data = csbm(100, split=(0.5, 0.2, 0.3))
        >>> noisy = LabelNoise(rate=0.2, seed=1)(data)
        >>> int((noisy.y != data.y).sum())
        10
    """

    rate: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_share(self.rate, "rate")

    def forward(self, data: Data) -> Data:
        """Replace `y` by noisy labels."""
        y, mask = self._training_labels(data)
        classes = max(int(y.max()) + 1, len(data.get("class_names") or ()))
        if classes < 2:
            raise self.error(f"data must have at least two classes, got {classes}.")
        nodes = torch.nonzero(mask.cpu() & (y.cpu() >= 0)).flatten()
        generator = self.generator()
        chosen = nodes[distinct_numbers(exact_count(self.rate, len(nodes)), len(nodes), generator)]
        step = torch.randint(1, classes, chosen.shape, generator=generator).to(y.device)
        chosen = chosen.to(y.device)
        noisy = y.clone()
        noisy[chosen] = (y[chosen] + step) % classes
        if "clean_y" not in data:
            data.clean_y = y
        data.y = noisy
        return data

    def _training_labels(self, data: Data) -> tuple[Tensor, Tensor]:
        """Return the labels and the training mask, both with one value per node."""
        y, mask = data.y, data.get("train_mask")
        if y is None or mask is None:
            raise self.error("data must have y and train_mask.")
        if y.ndim != 1 or mask.shape != y.shape:
            shapes = f"{tuple(y.shape)} and {tuple(mask.shape)}"
            raise self.error(
                f"y and train_mask must have one value per node (choose one split), got shapes {shapes}."
            )
        return y, mask
