"""Keep results within a block, for loops that evaluate one graph hundreds of times with other edge weights.

Nothing is kept outside a `remembering()` block, and all results are dropped when the block ends. A kept
result is used only for the same tensor objects, and only while they are unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar, cast

from torch import Tensor

Result = TypeVar("Result")
_Kept = tuple[tuple[object, ...], list[int], object]  # inputs, versions of the tensors, result
_slots: ContextVar[dict[str, _Kept] | None] = ContextVar("gadc_slots", default=None)


@contextmanager
def remembering() -> Iterator[None]:
    """Let `remembered` keep the last result of each name within a `with` block."""
    token = _slots.set({})
    try:
        yield
    finally:
        _slots.reset(token)


def remembered(name: str, inputs: tuple[object, ...], compute: Callable[[], Result]) -> Result:
    """Return `compute()`, or the last result of that name if its inputs were the same and have not changed.

    Args:
        name: Name of the computation.
        inputs: Everything that the result depends on. Tensors are compared by identity and version, other
            objects by equality (which is identity for objects that do not define it).
        compute: The computation. It always runs if an input requires gradients.
    """
    slots = _slots.get()
    tensors = [one for one in inputs if isinstance(one, Tensor)]
    if slots is None or any(one.requires_grad or one.is_inference() for one in tensors):
        return compute()
    versions = [one._version for one in tensors]
    known = slots.get(name)
    if known is not None and known[1] == versions and _same(known[0], inputs):
        return cast("Result", known[2])
    result = compute()
    slots[name] = (inputs, versions, result)
    return result


def _same(before: tuple[object, ...], now: tuple[object, ...]) -> bool:
    """Return whether all inputs are the same objects, or equal if they are not tensors."""
    return len(before) == len(now) and all(
        a is b or not (isinstance(a, Tensor) or isinstance(b, Tensor) or a != b)
        for a, b in zip(before, now, strict=True)
    )
