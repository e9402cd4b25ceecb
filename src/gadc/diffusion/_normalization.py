"""Row normalisation of features."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from gadc._base.validation import check_choice

NORMALIZATIONS = ("sum", "l1", "l2", "none")
NEAR_ZERO = 1e-3  # share of a row's absolute sum below which its signed sum is mostly cancellation
_ENTRIES = 1 << 18  # whose copy in float64 stays in a core's cache


class NearZeroRowSumWarning(UserWarning):
    """Dividing by signed row sums blows up rows whose entries cancel."""


def normalize_rows(x: Tensor, kind: str) -> Tensor:
    """Divide each row of `x` by its signed sum, its ℓ1 norm or its ℓ2 norm ("none" leaves it).

    The published figures on noise rest on "sum". Where entries of both signs cancel, it makes huge
    or sign-flipped rows, and a warning says how many. Rows whose divisor has no finite inverse (0 above all)
    become 0.

    Args:
        x: Matrix (nodes, features).
        kind: "sum", "l1", "l2" or "none".
    """
    check_choice("normalize_rows", kind, "kind", NORMALIZATIONS)
    if kind == "none":
        return x
    x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    if kind == "l2":
        divisor = torch.linalg.vector_norm(x, dim=1, keepdim=True)
    elif kind == "l1":
        divisor = x.abs().sum(dim=1, keepdim=True)
    else:
        divisor = torch.cat([some.double().sum(dim=1, keepdim=True) for some in _blocks(x)])
        near = _count_near_zero(x.detach(), divisor.detach())
        if near:
            warnings.warn(
                f"normalize_rows: {near} of {len(x)} rows have a signed sum below {NEAR_ZERO:g} of their "
                'absolute sum and are blown up; "l1" and "l2" are safe.',
                NearZeroRowSumWarning,
                stacklevel=2,
            )
    scale = (1 / divisor).to(x.dtype)
    return x * torch.where(scale.isinf(), 0.0, scale)


def _blocks(x: Tensor) -> Sequence[Tensor]:
    """A few rows at a time: for float64 sums of a whole large matrix torch takes eight times as long."""
    return torch.split(x, max(_ENTRIES // max(x.shape[1], 1), 1))


def _count_near_zero(x: Tensor, sums: Tensor) -> int:
    """How many rows have a signed sum that is mostly cancellation."""
    absolute = torch.cat([some.double().abs().sum(dim=1, keepdim=True) for some in _blocks(x)])
    return int((sums.abs() < NEAR_ZERO * absolute).sum())
