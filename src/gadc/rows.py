"""Row normalisation of features."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

from gadc.validation import check_choice

NORMALIZATIONS = ("sum", "l1", "l2", "none")
NEAR_ZERO = 1e-3  # share of a row's absolute sum below which its signed sum is mostly cancellation


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
        divisor = x.sum(dim=1, keepdim=True, dtype=torch.float64)
        near = int((divisor.abs() < NEAR_ZERO * x.abs().sum(dim=1, keepdim=True, dtype=torch.float64)).sum())
        if near:
            warnings.warn(
                f"normalize_rows: {near} of {len(x)} rows have a signed sum below {NEAR_ZERO:g} of their "
                'absolute sum and are blown up; "l1" and "l2" are safe.',
                NearZeroRowSumWarning,
                stacklevel=2,
            )
    scale = (1 / divisor).to(x.dtype)
    return x * torch.where(scale.isinf(), 0.0, scale)
