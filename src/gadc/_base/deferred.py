"""Modules that are loaded at their first use, so that a command shows its help and its errors at once.

`importlib.util.LazyLoader` does not serve: a second import of a module, from anywhere, loads it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from threading import RLock
from types import ModuleType
from typing import Any, cast

_LOCK = RLock()


@contextmanager
def deferred() -> Iterator[None]:
    """Load the modules that are imported within this context at the first access to one of their names.

    Import modules here (`from gadc import estimators`), not names out of them (`from gadc.estimators import
    GADCClassifier`), which would load them. Types that only annotations need belong below `TYPE_CHECKING`.

    Examples:
        >>> from gadc._base.deferred import deferred
        >>> with deferred():
        ...     import colorsys
        >>> colorsys.rgb_to_hsv(0, 0, 0)
        (0.0, 0.0, 0)
    """
    finder = _DeferringFinder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _DeferringFinder(MetaPathFinder):
    """Find modules as the other finders do, and let them be executed later."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        for finder in sys.meta_path:
            if isinstance(finder, _DeferringFinder):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _DeferringLoader(spec.loader)
                return spec
        return None


class _DeferringLoader(Loader):
    """Create a module, and leave it to the module to execute itself."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        spec = cast(ModuleSpec, module.__spec__)
        spec.loader = module.__loader__ = self._loader
        module.__class__ = _DeferredModule


class _DeferredModule(ModuleType):
    """A module that executes itself when it is asked for a name that the import system has not set."""

    def __getattribute__(self, name: str) -> Any:
        known = super().__getattribute__("__dict__")
        # A package has to be executed before a module below it, which is found by `__path__`.
        if name in ("__class__", "__dict__") or (name in known and name != "__path__"):
            return super().__getattribute__(name)
        with _LOCK:
            if self.__class__ is _DeferredModule:  # no other thread has executed it meanwhile
                _execute(self)
        return getattr(self, name)


def _execute(module: ModuleType) -> None:
    """Execute a module; what it imports is loaded as usual, also within `deferred`."""
    finders = [finder for finder in sys.meta_path if isinstance(finder, _DeferringFinder)]
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in finders]
    module.__class__ = ModuleType
    try:
        cast(Loader, module.__loader__).exec_module(module)
    except BaseException:
        module.__class__ = _DeferredModule
        raise
    finally:
        sys.meta_path[:0] = finders
