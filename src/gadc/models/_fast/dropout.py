"""Dropout, several times faster on a CPU than torch's own, and the linear map that mostly follows it.

An epoch on features without zeros spends its time in three products of their size: X W with entries dropped,
the gradient in W, and X W of the evaluation. Where the features are vast, the first and the last become one
(`thinning`): an evaluation draws the mask of the step that follows and makes both at once, and
the gradient skips what was dropped. It is the same dropout with other random numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

from gadc.models._fast.sparse_features import SparseFeatures
from gadc.operators._backend import uses_numba
from gadc.operators._numba.masking import masked

if TYPE_CHECKING:
    from gadc.operators._numba.thinning import ThinnedProduct

_LEVELS = 65536  # a probability is met to one part of so many
_MANY = 5_000_000  # entries whose random bits would take torch's generator most of the time
_VAST = 50_000_000  # entries; fewer keep the random numbers that stored runs were made with
_WIDE = 32  # columns up to which dense products with the dropped entries are nearly as fast,
_RARE = 0.25  # unless fewer entries than this share are kept


@overload
def drop(x: Tensor, probability: float) -> Tensor: ...
@overload
def drop(x: SparseFeatures, probability: float) -> SparseFeatures: ...
def drop(x: Tensor | SparseFeatures, probability: float) -> Tensor | SparseFeatures:
    """Each entry is 0 with that probability, and divided by that of the opposite else.

    One 64-bit random number decides on four entries, so the probability is met to 1/65536.
    """
    if isinstance(x, SparseFeatures):
        return replace(x, values=drop(x.values, probability))
    least, scale = min(round(probability * _LEVELS), _LEVELS - 1) - _LEVELS // 2, 1 / (1 - probability)
    if x.numel() >= _MANY and x.device.type == "cpu":
        return masked(x, int(torch.randint(2**63 - 1, ())), least, scale)
    words = torch.randint(-(2**63), 2**63 - 1, (x.numel() // 4 + 1,), dtype=torch.int64, device=x.device)
    return masked(x, words.view(torch.int16)[: x.numel()], least, scale)


def dropped_linear(
    x: Tensor | SparseFeatures,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    probability: float,
    training: bool,
) -> Tensor:
    """The linear map of the features, dropped from while training: drop(x) Wᵀ + b, else x Wᵀ + b.

    Args:
        x: Features, shape (n, d).
        weight: W, shape (columns, d).
        bias: b; None is 0.
        probability: Of an entry to be dropped.
        training: Whether entries are dropped.
    """
    passes = _passes.get()
    if isinstance(x, SparseFeatures) or passes is None or not _splits(x, weight, probability):
        return linear(drop(x, probability) if training and probability > 0 else x, weight, bias)  # type: ignore[arg-type]
    out = (_step if training else _evaluation)(passes, x, weight, probability)
    return out if bias is None else out + bias


@dataclass(frozen=True, eq=False)
class _Pass:
    """A product in two parts, and what it was made of; no version: it has served."""

    x: Tensor
    version: int | None
    product: ThinnedProduct


_passes: ContextVar[dict[int, _Pass] | None] = ContextVar("gadc_passes", default=None)


@contextmanager
def sharing_passes() -> Iterator[None]:
    """Within this block an evaluation does part of the work of the training step that follows it."""
    token = _passes.set({})
    try:
        yield
    finally:
        _passes.reset(token)


def drawn_ahead() -> bool:
    """Whether an evaluation has drawn a mask that waits for its training step."""
    return any(one.version is not None for one in (_passes.get() or {}).values())


def _step(passes: dict[int, _Pass], x: Tensor, weight: Tensor, probability: float) -> Tensor:
    """drop(x) Wᵀ, by the mask and product of the evaluation before it, where that had the same weights."""
    ready = passes.get(id(weight))
    if ready is None or ready.x is not x or ready.version != weight._version:
        ready = _split(x, weight, probability)
    passes[id(weight)] = replace(ready, version=None)  # a mask serves one step
    out: Tensor = _Kept.apply(weight, ready, 1 / (1 - probability))  # type: ignore[no-untyped-call]
    return out


def _evaluation(passes: dict[int, _Pass], x: Tensor, weight: Tensor, probability: float) -> Tensor:
    """The map x Wᵀ, in two parts where the features are those that training steps are made on."""
    last = passes.get(id(weight))
    if last is None or last.x is not x or torch.is_grad_enabled():
        return linear(x, weight)
    passes[id(weight)] = ready = _split(x, weight, probability)
    return ready.product.kept + ready.product.rest


def _splits(x: Tensor, weight: Tensor, probability: float) -> bool:
    """Whether the products are worth their own loops, and can be made there."""
    if x.numel() < _VAST or x.requires_grad or x.dtype != torch.float32:
        return False
    skips = probability > 0 and (len(weight) > _WIDE or 1 - probability < _RARE)
    return skips and uses_numba(x.numel() * len(weight), x, weight)


def _split(x: Tensor, weight: Tensor, probability: float) -> _Pass:
    from gadc.operators._numba.thinning import thinned_product  # importing Numba takes a second

    keep = min(max(round((1 - probability) * _LEVELS), 1), _LEVELS - 1)
    key = int(torch.randint(2**63 - 1, ()))
    return _Pass(x, weight._version, thinned_product(x, weight.T, keep=keep, key=key))


class _Kept(torch.autograd.Function):
    """The part that a step of training sees; its gradient in W is made of the same entries."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, ready: _Pass, scale: float) -> Tensor:
        ctx.ready, ctx.scale = ready, scale
        return ready.product.kept * scale

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        from gadc.operators._numba.thinning import thinned_transposed

        of_weight = thinned_transposed(ctx.ready.x, ctx.ready.product.mask, grad * ctx.scale)
        return of_weight.T, None, None
