"""Validation that is not noise: the given split where it is large enough, else many splits like it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

ENOUGH = 200  # validation nodes: a share measured on so many has a standard error of 3.5 points at most
_MOST = 20
_HELD_OUT = 0.2  # of the labels, where no validation part is given


@dataclass(frozen=True)
class Round:
    """One split; numbers of nodes."""

    train: Tensor
    validation: Tensor


def make_rounds(y: Tensor, train_mask: Tensor, val_mask: Tensor, *, seed: int) -> list[Round]:
    """The given split, followed by others if its validation part is small.

    The others draw as many training nodes of each class as the given one has from all labelled nodes, so that
    they pose the problem at hand: with more training labels another candidate might win. A large enough given
    split stands alone, since it may be part of the problem: a poisoned graph was made to harm its training
    nodes, and other splits would understate that. Without a validation part, a fifth of the labels of each
    class is held out. Every class keeps a training node; where that leaves nothing to validate on, there are
    no rounds.
    """
    generator = torch.Generator().manual_seed(seed)
    pool = train_mask | val_mask
    has_validation = bool(val_mask.any())
    sizes = {int(code): int((y[pool] == code).sum()) for code in torch.unique(y[pool])}
    kept = {code: _train_size(code, size, y, train_mask, has_validation) for code, size in sizes.items()}
    held_out = sum(sizes.values()) - sum(kept.values())
    rounds = [Round(_numbers(train_mask), _numbers(val_mask))] if has_validation else []
    count = min(_MOST, math.ceil(2 * ENOUGH / held_out)) if 0 < held_out < ENOUGH else len(rounds) or 1
    while held_out and len(rounds) < count:
        parts = [_numbers(pool & (y == code)) for code in sizes]
        parts = [part[torch.randperm(len(part), generator=generator)] for part in parts]
        pairs = list(zip(parts, kept.values(), strict=True))
        train = torch.cat([part[:size] for part, size in pairs])
        rounds.append(Round(train, torch.cat([part[size:] for part, size in pairs])))
    return rounds


def _train_size(code: int, size: int, y: Tensor, train_mask: Tensor, has_validation: bool) -> int:
    if has_validation:
        return int((y[train_mask] == code).sum())
    return max(1, size - round(_HELD_OUT * size))


def _numbers(mask: Tensor) -> Tensor:
    return mask.nonzero().squeeze(1)
