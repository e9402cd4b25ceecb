"""Calls as bytes, so that only a worker has to import what a call needs.

A scheduler looks into the tasks that it hands out: it would import the module of a function, and with it
libraries that take seconds to load and that it may not have. It is given `pickle.loads` and bytes instead,
whose reading is the call.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any


class _Call:
    """An object whose unpickling calls a function."""

    def __init__(self, function: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        self._call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., None], tuple[Any, ...]]:
        return self._call


def submission(function: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what to submit for a call: bytes, or the call as it is if the function cannot be imported.

    Examples:
        >>> from gadc._base.tasks._remote import submission
        >>> function, *arguments = submission(print, ("hello",))
        >>> function(*arguments)
        hello
    """
    if "<" in function.__qualname__ or function.__module__ == "__main__":  # a local function, or a script
        return (function, *arguments)
    return (pickle.loads, pickle.dumps(_Call(function, arguments)))
