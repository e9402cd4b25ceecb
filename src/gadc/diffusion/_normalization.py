"""Row normalisation of features."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from gadc._base.magnitude import usual_rows
from gadc._base.scalars import check_choice
from gadc._base.validation import check_finite_result

NORMALIZATIONS = ("sum", "l1", "l2", "none")
NEAR_ZERO = 1e-3  # share of a row's absolute sum below which its signed sum is mostly cancellation
_ENTRIES = 1 << 18  # per block: a copy in float64 fits into the cache of a core


class NearZeroRowSumWarning(UserWarning):
    """Rows whose entries nearly cancel were divided by their small signed sum and became huge."""


def normalize_rows(x: Tensor, kind: str) -> Tensor:
    """Divide each row of `x` by its signed sum, its ℓ1 norm or its ℓ2 norm.

    The published figures on noise rest on "sum". Where entries of both signs cancel, "sum" makes huge or
    sign-flipped rows, and a `NearZeroRowSumWarning` gives their number. Rows whose divisor has no finite
    inverse, such as 0, become 0.

    Args:
        x: Features, shape (n, d).
        kind: "sum", "l1", "l2", or "none" to return `x` itself.

    Returns:
        The normalised features, shape (n, d), differentiable in `x`.

    Examples:
        >>> import torch
        >>> from gadc.diffusion import normalize_rows
        >>> normalize_rows(torch.tensor([[1.0, 3.0], [0.0, 0.0]]), "l1")
        tensor([[0.2500, 0.7500],
                [0.0000, 0.0000]])
    """
    check_choice("normalize_rows", kind, "kind", NORMALIZATIONS)
    if kind == "none":
        return x
    x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    divisor = _divisor(x, kind)
    # A signed sum may be small by cancellation, so only its overflow says that the row is out of range.
    sizes = divisor.square() if kind != "sum" else torch.where(divisor.isinf(), divisor, 1.0)
    usual = usual_rows(x, sizes.squeeze(1))
    if usual is not x:
        x, divisor = usual, _divisor(usual, kind)
    near = _count_near_zero(x.detach(), divisor.detach()) if kind == "sum" else 0
    if near:
        warnings.warn(
            f"normalize_rows: {near} of {len(x)} rows have a signed sum below {NEAR_ZERO:g} of their "
            'absolute sum and become huge; "l1" and "l2" are safe.',
            NearZeroRowSumWarning,
            stacklevel=2,
        )
    scale = (1 / divisor).to(x.dtype)
    out = x * torch.where(scale.isinf(), 0.0, scale)
    return check_finite_result("normalize_rows", out, "the normalised features", 'use "l1" or "l2"', x=x)


def _divisor(x: Tensor, kind: str) -> Tensor:
    """Compute the number that each row is divided by, shape (n, 1)."""
    if kind == "l2":
        norms: Tensor = torch.linalg.vector_norm(x, dim=1, keepdim=True)
        return norms
    if kind == "l1":
        return x.abs().sum(dim=1, keepdim=True)
    return torch.cat([some.double().sum(dim=1, keepdim=True) for some in _blocks(x)])


def _blocks(x: Tensor) -> Sequence[Tensor]:
    """Split a matrix into blocks of rows; their float64 sums are much faster than sums of the whole."""
    return torch.split(x, max(_ENTRIES // max(x.shape[1], 1), 1))


def _count_near_zero(x: Tensor, sums: Tensor) -> int:
    """Count the rows whose signed sum is mostly cancellation."""
    absolute = torch.cat([some.double().abs().sum(dim=1, keepdim=True) for some in _blocks(x)])
    return int((sums.abs() < NEAR_ZERO * absolute).sum())
