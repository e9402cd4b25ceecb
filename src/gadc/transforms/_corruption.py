"""Noise of every kind: on features, edges and training labels, and the row normalisation that may follow.

Each corruption is a frozen object `Data -> Data` with its own seed; the input is never changed. Noise is
drawn on the CPU from a generator seeded by the seed and the name of the corruption, so it depends on nothing
else: not on the device, nor on the global random state, nor on what else is in a `Compose` (two kinds with
one seed draw independently). Rates are shares of the undirected edges or training nodes, and counts are
exact: rate times total, rounded to the nearest whole number, halves up.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gadc._base.pairs import decode_pairs, distinct_numbers, encode_pairs, sample_non_edges
from gadc._base.validation import check_choice, check_count, check_number
from gadc.diffusion import NORMALIZATIONS, NearZeroRowSumWarning, normalize_rows

__all__ = [
    "CORRUPTIONS",
    "Compose",
    "EdgeAddition",
    "EdgeRemoval",
    "EdgeRewiring",
    "FeatureFlip",
    "FeatureMask",
    "GaussianNoise",
    "LabelNoise",
    "NearZeroRowSumWarning",
    "RowNormalize",
    "corruption",
    "normalize_rows",
]


@dataclass(frozen=True, kw_only=True)
class _Corruption:
    """What all corruptions share.

    Args:
        seed: Whole number >= 0.
    """

    seed: int = 0

    def __post_init__(self) -> None:
        check_count(type(self).__name__, self.seed, "seed")

    def _check_share(self, value: float, name: str) -> None:
        check_number(type(self).__name__, value, name)
        if value > 1:
            raise ValueError(f"{type(self).__name__}: {name} must be between 0 and 1, got {value!r}.")

    def _error(self, message: str) -> ValueError:
        return ValueError(f"{type(self).__name__}: {message}")

    def _generator(self) -> torch.Generator:
        # torch keeps 32 bits of a seed, so name and seed are hashed into that many.
        words = [zlib.crc32(type(self).__name__.encode()), self.seed]
        return torch.Generator().manual_seed(int(np.random.SeedSequence(words).generate_state(1)[0]))

    def _features(self, data: Data) -> Tensor:
        if not isinstance(data.x, Tensor):
            raise self._error(f"data must have features x, got {type(data.x).__name__}.")
        return data.x


@dataclass(frozen=True, kw_only=True)
class GaussianNoise(_Corruption):
    """X + ξ N, with N standard normal on all entries of all nodes.

    Args:
        level: ξ >= 0.
        seed: Whole number >= 0.
    """

    level: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("GaussianNoise", self.level, "level")

    def __call__(self, data: Data) -> Data:
        """A copy with noisy `x`."""
        x = self._features(data)
        x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
        noise = torch.randn(x.shape, generator=self._generator(), dtype=x.dtype)
        return _with(data, x=x + self.level * noise.to(x.device))


@dataclass(frozen=True, kw_only=True)
class _EntryCorruption(_Corruption):
    """Hits each entry of X with a probability."""

    probability: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_share(self.probability, "probability")

    def _hits(self, x: Tensor) -> Tensor:
        return (torch.rand(x.shape, generator=self._generator()) < self.probability).to(x.device)


@dataclass(frozen=True, kw_only=True)
class FeatureFlip(_EntryCorruption):
    """Flips each entry with probability p: a zero becomes 1, anything else becomes 0 (appendix of the paper).

    That holds for weighted words (TF-IDF) too, where a word that is present never becomes 1.

    Args:
        probability: p between 0 and 1.
        seed: Whole number >= 0.
    """

    def __call__(self, data: Data) -> Data:
        """A copy with flipped `x`."""
        x = self._features(data)
        return _with(data, x=torch.where(self._hits(x), (x == 0).to(x.dtype), x))


@dataclass(frozen=True, kw_only=True)
class FeatureMask(_EntryCorruption):
    """Sets each entry to zero with a probability.

    Args:
        probability: Between 0 and 1.
        seed: Whole number >= 0.
    """

    def __call__(self, data: Data) -> Data:
        """A copy with masked `x`."""
        x = self._features(data)
        return _with(data, x=x.masked_fill(self._hits(x), 0))


@dataclass(frozen=True, kw_only=True)
class _EdgeCorruption(_Corruption):
    """Changes a share of the undirected edges; `clean_edge_index` keeps those from before the first."""

    rate: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(type(self).__name__, self.rate, "rate")

    def _change(self, data: Data, *, remove: bool, add: bool) -> Data:
        n, device = int(data.num_nodes), data.edge_index.device
        extra = [
            key for key in data.edge_attrs() if key not in ("edge_index", "edge_weight", "clean_edge_index")
        ]
        if extra:
            raise self._error(f"edges may carry only edge_weight, got {', '.join(extra)}.")
        weight = data.get("edge_weight")
        try:
            pairs, weight = encode_pairs(data.edge_index.cpu(), None if weight is None else weight.cpu())
        except ValueError as error:
            raise self._error(str(error)) from None
        count, generator = _share(self.rate, len(pairs)), self._generator()
        free = n * (n - 1) // 2 - len(pairs)
        if add and count > free:
            raise self._error(
                f"{count} edges cannot be added, the graph has only {free} pairs without an edge."
            )
        keep = torch.ones(len(pairs), dtype=torch.bool)
        if remove:
            keep[distinct_numbers(count, len(pairs), generator)] = False
        new = sample_non_edges(pairs, count if add else 0, n, generator)
        if weight is not None:
            weight = torch.cat([weight[keep], weight.new_ones(len(new))])
        edge_index, weight = decode_pairs(torch.cat([pairs[keep], new]), weight)
        changed: dict[str, Any] = {"edge_index": edge_index.to(device)}
        if data.x is None:
            changed["num_nodes"] = n  # else it would be guessed from the edges that are left
        if weight is not None:
            changed["edge_weight"] = weight.to(device)
        if "clean_edge_index" not in data:
            changed["clean_edge_index"] = data.edge_index
        return _with(data, **changed)


@dataclass(frozen=True, kw_only=True)
class EdgeAddition(_EdgeCorruption):
    """Adds edges between uniformly drawn pairs that have none; they get weight 1.

    Args:
        rate: New edges as a share of the undirected edges, >= 0.
        seed: Whole number >= 0.
    """

    def __call__(self, data: Data) -> Data:
        """A copy with more edges."""
        return self._change(data, remove=False, add=True)


@dataclass(frozen=True, kw_only=True)
class EdgeRemoval(_EdgeCorruption):
    """Removes uniformly drawn edges.

    Args:
        rate: Share of the undirected edges, between 0 and 1.
        seed: Whole number >= 0.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_share(self.rate, "rate")

    def __call__(self, data: Data) -> Data:
        """A copy with fewer edges."""
        return self._change(data, remove=True, add=False)


@dataclass(frozen=True, kw_only=True)
class EdgeRewiring(EdgeRemoval):
    """Replaces uniformly drawn edges by as many between pairs that had none; they get weight 1.

    Args:
        rate: Share of the undirected edges, between 0 and 1.
        seed: Whole number >= 0.
    """

    def __call__(self, data: Data) -> Data:
        """A copy with as many edges."""
        return self._change(data, remove=True, add=True)


@dataclass(frozen=True, kw_only=True)
class LabelNoise(_Corruption):
    """Moves a share of the labelled training nodes to a uniformly drawn other class; `clean_y` keeps the old.

    Args:
        rate: Share of the training nodes that have a label, between 0 and 1.
        seed: Whole number >= 0.
    """

    rate: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_share(self.rate, "rate")

    def __call__(self, data: Data) -> Data:
        """A copy with noisy `y` on the training nodes."""
        y, mask = data.y, data.get("train_mask")
        if y is None or mask is None:
            raise self._error("data must have y and train_mask.")
        if y.ndim != 1 or mask.shape != y.shape:
            shapes = f"{tuple(y.shape)} and {tuple(mask.shape)}"
            raise self._error(f"y and train_mask must be one value a node (choose one split), got {shapes}.")
        classes = max(int(y.max()) + 1, len(data.get("class_names") or ()))
        if classes < 2:
            raise self._error(f"there must be two classes or more, got {classes}.")
        nodes = torch.nonzero(mask.cpu() & (y.cpu() >= 0)).flatten()
        generator = self._generator()
        hit = nodes[distinct_numbers(_share(self.rate, len(nodes)), len(nodes), generator)]
        step = torch.randint(1, classes, hit.shape, generator=generator)
        noisy = y.clone()
        noisy[hit.to(y.device)] = (y[hit.to(y.device)] + step.to(y.device)) % classes
        return _with(data, y=noisy, **({} if "clean_y" in data else {"clean_y": y}))


@dataclass(frozen=True, kw_only=True)
class RowNormalize:
    """Divides each row of X by a norm; see `normalize_rows`. A step of its own, often after a corruption.

    Args:
        kind: "sum", "l1", "l2" or "none".
    """

    kind: str = "l1"

    def __post_init__(self) -> None:
        check_choice("RowNormalize", self.kind, "kind", NORMALIZATIONS)

    def __call__(self, data: Data) -> Data:
        """A copy with normalised `x`."""
        return _with(data, x=normalize_rows(data.x, self.kind))


@dataclass(frozen=True)
class Compose:
    """Applies steps in their order.

    Args:
        steps: Corruptions, normalisations or any other `Data -> Data`.
    """

    steps: tuple[Callable[[Data], Data], ...]

    def __init__(self, *steps: Callable[[Data], Data]) -> None:
        for step in steps:
            if not callable(step):
                raise TypeError(f"Compose: each step must be a callable Data -> Data, got {step!r}.")
        object.__setattr__(self, "steps", steps)

    def __call__(self, data: Data) -> Data:
        """The result of the last step."""
        for step in self.steps:
            data = step(data)
        return data


CORRUPTIONS: dict[str, Callable[..., Callable[[Data], Data]]] = {
    "gaussian-noise": GaussianNoise,
    "feature-flip": FeatureFlip,
    "feature-mask": FeatureMask,
    "edge-addition": EdgeAddition,
    "edge-removal": EdgeRemoval,
    "edge-rewiring": EdgeRewiring,
    "label-noise": LabelNoise,
}


def corruption(name: str, **settings: Any) -> Callable[[Data], Data]:
    """A corruption by its name: `corruption("gaussian-noise", level=0.1, seed=3)`."""
    check_choice("corruption", name, "name", tuple(CORRUPTIONS))
    try:
        return CORRUPTIONS[name](**settings)
    except TypeError as error:
        raise ValueError(f"corruption: bad settings for {name!r}: {error}.") from error


def _share(rate: float, total: int) -> int:
    return math.floor(rate * total + 0.5)


def _with(data: Data, **changes: Any) -> Data:
    """A shallow copy with some attributes replaced: the tensors that stay are shared, none is written to."""
    changed = data.__copy__()
    for name, value in changes.items():
        changed[name] = value
    return changed
