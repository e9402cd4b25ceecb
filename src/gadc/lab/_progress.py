"""Who is told what a lab is doing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm


@contextmanager
def telling(progress: bool | Callable[[str], None] | None, total: int) -> Iterator[Callable[[str], None]]:
    """Yield a function that is told each step that begins.

    Args:
        progress: True shows a bar, a function is told itself, None and False mean nobody.
        total: Number of kinds or folds.
    """
    if callable(progress):
        yield progress
        return
    with tqdm(
        total=None, disable=not progress, leave=False, desc="starting", bar_format="{desc} [{elapsed}]"
    ) as bar:

        def tell(step: str) -> None:
            bar.set_description(step)

        yield tell
