"""Show progress on standard error while a command works; nothing is shown if that is not a terminal."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tqdm import tqdm

from gadc._base.deferred import deferred
from gadc._base.memory import format_bytes
from gadc.cli._manners import hides_progress
from gadc.cli._output import say

if TYPE_CHECKING:
    from gadc._base.tasks import Progress

with deferred():
    pass


@contextmanager
def working(what: str, *, shown: bool = True) -> Iterator[None]:
    """Show what is being done, and print the warnings of this work afterwards, one line each.

    Args:
        what: Description of the work, such as "Reading the graph".
        shown: Whether to show it; no, if the work has a progress bar. Default: yes.
    """
    hidden = hides_progress() if shown else True
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

    A step that begins with "forecast: " is printed on a line of its own.

    Args:
        what: Description of the work.
        seconds: Time that the work may take; None is without a limit.
    """
    start = time.monotonic()
    with (
        working(what, shown=False),
        tqdm(desc=what, bar_format="{desc} ...", leave=False, disable=hides_progress()) as bar,
    ):

        def tell(step: str) -> None:
            if step.startswith("forecast: "):  # stays on the screen
                return say(step)
            left = "" if seconds is None else f"{max(0.0, seconds - time.monotonic() + start):.0f} s left: "
            bar.set_description(f"{what}, {left}{step}")

        yield tell


@contextmanager
def counting(total: int) -> Iterator[Callable[[str], None]]:
    """Show a progress bar; the function it yields is told each step that begins.

    Args:
        total: Number of steps.
    """
    with tqdm(total=total, desc="starting", disable=hides_progress()) as bar:
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
    with tqdm(desc=what, leave=False, disable=hides_progress()) as bar:

        def tell(state: str) -> None:
            bar.set_postfix_str(state, refresh=False)
            bar.update()

        yield tell


@contextmanager
def staging() -> Iterator[Callable[[Progress], None]]:
    """Show the stage, tasks done, bytes and time left of a run; the function it yields is told its state."""
    with working("", shown=False), tqdm(bar_format="{desc}", leave=False, disable=hides_progress()) as bar:

        def tell(state: Progress) -> None:
            bar.set_description(describe_progress(state))

        yield tell


def describe_progress(state: Progress) -> str:
    """Describe the state of a run in one line."""
    left = "" if state.seconds_left is None else f", {state.seconds_left:.0f} s left"
    done = f"{state.tasks_done} of {state.num_tasks} tasks"
    size = f", {format_bytes(state.bytes_done)} of {format_bytes(state.num_bytes)}" if state.num_bytes else ""
    return f"stage {state.number} of {state.num_stages}, {state.stage}: {done}{size}{left}"
