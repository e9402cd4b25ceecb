"""Splits to validate on: the given one where it is large enough, otherwise many splits of the same sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

ENOUGH = 200  # validation nodes: a share measured on so many has a standard error of at most 3.5 points
_MOST = 20
_HELD_OUT = 0.2  # share of the labels, if no validation nodes are given


@dataclass(frozen=True)
class Split:
    """Training and validation nodes, by number."""

    train: Tensor
    validation: Tensor


def make_splits(y: Tensor, train_mask: Tensor, val_mask: Tensor, *, seed: int) -> list[Split]:
    """Return the given split, followed by random ones if it has fewer than `ENOUGH` validation nodes.

    The random splits draw as many training nodes of each class as the given split has, from all labelled
    nodes: with more training labels, another candidate might win. A given split that is large enough stands
    alone, since it may be part of the problem: a graph that was poisoned to harm its training nodes looks
    harmless on other splits. Without validation nodes, a fifth of the labels of each class is held out. Every
    class keeps a training node; if that leaves nothing to validate on, there are no splits.

    Args:
        y: Class of each node, read at labelled nodes only, shape (n,).
        train_mask: Mask of the training nodes, shape (n,).
        val_mask: Mask of the validation nodes, shape (n,).
        seed: Seed of the random splits.
    """
    generator = torch.Generator().manual_seed(seed)
    labelled = train_mask | val_mask
    has_validation = bool(val_mask.any())
    sizes = {int(code): int((y[labelled] == code).sum()) for code in torch.unique(y[labelled])}
    kept = {code: _train_size(code, size, y, train_mask, has_validation) for code, size in sizes.items()}
    held_out = sum(sizes.values()) - sum(kept.values())
    splits = [Split(_numbers(train_mask), _numbers(val_mask))] if has_validation else []
    count = min(_MOST, math.ceil(2 * ENOUGH / held_out)) if 0 < held_out < ENOUGH else len(splits) or 1
    while held_out and len(splits) < count:
        parts = [_numbers(labelled & (y == code)) for code in sizes]
        parts = [part[torch.randperm(len(part), generator=generator)] for part in parts]
        pairs = list(zip(parts, kept.values(), strict=True))
        train = torch.cat([part[:size] for part, size in pairs])
        splits.append(Split(train, torch.cat([part[size:] for part, size in pairs])))
    return splits


def _train_size(code: int, size: int, y: Tensor, train_mask: Tensor, has_validation: bool) -> int:
    """Return how many of the `size` labelled nodes of a class are for training."""
    if has_validation:
        return int((y[train_mask] == code).sum())
    return max(1, size - round(_HELD_OUT * size))


def _numbers(mask: Tensor) -> Tensor:
    return mask.nonzero().squeeze(1)
