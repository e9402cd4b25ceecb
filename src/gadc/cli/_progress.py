"""Show progress on standard error while a command works; nothing is shown if that is not a terminal."""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

from gadc.cli._output import say


@contextmanager
def working(what: str, *, shown: bool = True) -> Iterator[None]:
    """Show what is being done, and print the warnings of this work afterwards, one line each.

    Args:
        what: Description of the work, such as "Reading the graph".
        shown: Whether to show it; no, if the work has a progress bar. Default: yes.
    """
    hidden = None if shown else True  # None: tqdm asks whether standard error is a terminal
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with tqdm(desc=what, bar_format="{desc} ...", leave=False, disable=hidden):
            yield
    raised = [item for item in caught if issubclass(item.category, UserWarning | RuntimeWarning)]
    for message in dict.fromkeys(str(item.message) for item in raised):
        say(f"warning: {message}")


@contextmanager
def working_until(what: str, seconds: float | None) -> Iterator[Callable[[str], None]]:
    """Show what is being done and the time left; the function it yields is told each step that begins.

    Args:
        what: Description of the work.
        seconds: Time that the work may take; None is without a limit.
    """
    start = time.monotonic()
    with (
        working(what, shown=False),
        tqdm(desc=what, bar_format="{desc} ...", leave=False, disable=None) as bar,
    ):

        def tell(step: str) -> None:
            left = "" if seconds is None else f"{max(0.0, seconds - time.monotonic() + start):.0f} s left: "
            bar.set_description(f"{what}, {left}{step}")

        yield tell


@contextmanager
def counting(total: int) -> Iterator[Callable[[str], None]]:
    """Show a progress bar; the function it yields is told each step that begins.

    Args:
        total: Number of steps.
    """
    with tqdm(total=total, desc="starting", disable=None) as bar:
        begun = False

        def begin(step: str) -> None:
            nonlocal begun
            bar.set_description(step, refresh=False)
            bar.update(int(begun))
            bar.refresh()
            begun = True

        yield begin
        bar.update(total - bar.n)


@contextmanager
def iterating(what: str) -> Iterator[Callable[[str], None]]:
    """Show the number of iterations done; the function it yields is told the state after each one.

    Args:
        what: Description of the work.
    """
    with tqdm(desc=what, leave=False, disable=None) as bar:

        def tell(state: str) -> None:
            bar.set_postfix_str(state, refresh=False)
            bar.update()

        yield tell
