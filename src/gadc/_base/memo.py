"""Results kept for a while, for loops that evaluate one graph hundreds of times with other edge weights.

Nothing is kept unless a caller asks for it with `remembering()`, and what was kept goes when that block ends.
Within it, a result holds for the very tensors it was made of, unchanged since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar, cast

from torch import Tensor

Result = TypeVar("Result")
_Entry = tuple[tuple[object, ...], list[int], object]
_slots: ContextVar[dict[str, _Entry] | None] = ContextVar("gadc_slots", default=None)


@contextmanager
def remembering() -> Iterator[None]:
    """Within this block, `remembered` keeps one result a name."""
    token = _slots.set({})
    try:
        yield
    finally:
        _slots.reset(token)


def remembered(name: str, inputs: tuple[object, ...], compute: Callable[[], Result]) -> Result:
    """`compute()`, or its last result of that name if the inputs are the same objects, unchanged since.

    Args:
        name: Names the computation.
        inputs: All that the result depends on. Tensors count as the same by identity and version, other
            objects by equality (which is identity for objects that define none).
        compute: The computation; it runs anew where an input requires gradients.
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
    return len(before) == len(now) and all(
        a is b or not (isinstance(a, Tensor) or isinstance(b, Tensor) or a != b)
        for a, b in zip(before, now, strict=True)
    )
