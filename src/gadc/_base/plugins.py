"""Registries that other packages can extend: by a `register` function, or by entry points that pip installs.

A plug-in that cannot be loaded is a warning that names it, since one broken package must not stop every
command.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_plugin_packages: set[str] = set()  # top-level names of modules that belong to users


class Registry(MutableMapping[str, T], Generic[T]):
    """Things by name: built in, added by `register`, or found as entry points of a group.

    Entry points are loaded when the registry is first read, so that importing gadc runs no foreign code.

    Args:
        group: Group of the entry points, such as "gadc.models".
        builtin: The built-in things; a plug-in cannot replace them.
        convert: Function from a name and an object of a plug-in to what is stored; raises if it is unusable.

    Examples:
        >>> from gadc._base.plugins import Registry
        >>> colors = Registry("example.colors", {"red": 1}, lambda name, value: int(value))
        >>> colors.register("blue", "2")
        2
        >>> list(colors)
        ['red', 'blue']
    """

    def __init__(self, group: str, builtin: Mapping[str, T], convert: Callable[[str, Any], T]) -> None:
        self.group = group
        self._entries, self._builtin, self._convert = dict(builtin), frozenset(builtin), convert
        self._loaded, self._lock = False, RLock()

    def register(self, name: str, value: Any) -> T:
        """Add a thing under a name; an earlier plug-in of that name is replaced, a built-in one is not."""
        if not isinstance(name, str) or not name or "/" in name or name != name.strip():
            raise ValueError(f"register: name must be text without slashes, got {name!r}.")
        if name in self._builtin:
            raise ValueError(f"register: name must not be a built-in name of {self.group}, got {name!r}.")
        self._entries[name] = self._convert(name, value)
        mark_foreign(getattr(value, "__module__", None) or "")
        return self._entries[name]

    def __getitem__(self, name: str) -> T:
        return self._complete()[name]

    def __setitem__(self, name: str, value: T) -> None:
        self._complete()[name] = value

    def __delitem__(self, name: str) -> None:
        del self._complete()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._complete())

    def __len__(self) -> int:
        return len(self._complete())

    def _complete(self) -> dict[str, T]:
        """Load the entry points unless that was done."""
        with self._lock:
            if not self._loaded:
                self._loaded = True  # first: a plug-in may read the registry while it is loaded
                for point in entry_points(group=self.group):
                    self._load(point)
        return self._entries

    def _load(self, point: EntryPoint) -> None:
        mark_foreign(point.module)
        try:
            if point.name in self._entries:
                raise ValueError(f"the name {point.name!r} is taken")
            self.register(point.name, point.load())
        except (Exception, SystemExit) as error:
            package = f" of {point.dist.name}" if point.dist is not None else ""
            place = foreign_line(error)
            warnings.warn(
                f"plug-in {point.name!r}{package} ({self.group} = {point.value}) is left out: "
                f"{type(error).__name__}: {error}{f' ({place})' if place else ''}",
                stacklevel=4,
            )


def plugin_names(group: str) -> tuple[str, ...]:
    """List the names of the entry points of a group without loading them."""
    return tuple(dict.fromkeys(point.name for point in entry_points(group=group)))


def mark_foreign(module: str) -> None:
    """Remember that a module and the modules beside it belong to a user."""
    package = module.partition(".")[0]
    if package not in ("", "gadc", "builtins", "functools"):
        _plugin_packages.add(package)


def foreign_line(error: BaseException) -> str | None:
    """Return the last line of a user's plug-in or hook that an error passed; None if it passed none."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        frame = _last_foreign_frame(cause.__traceback__)
        if frame is not None:
            return f"{frame.filename}, line {frame.lineno}, in {frame.name}: {frame.line}"
        if isinstance(cause, SyntaxError) and cause.filename:
            return f"{cause.filename}, line {cause.lineno}: {(cause.text or '').strip()}"
        cause = cause.__cause__
    return None


def _last_foreign_frame(trace: TracebackType | None) -> traceback.FrameSummary | None:
    found = None
    for position, (frame, _) in enumerate(traceback.walk_tb(trace)):
        if frame.f_globals.get("__name__", "").partition(".")[0] in _plugin_packages:
            found = position
    return None if found is None else traceback.extract_tb(trace)[found]
