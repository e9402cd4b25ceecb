"""Names of a package that are imported at their first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, names: Mapping[str, tuple[str, ...]], modules: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose names are imported at their first use.

    Args:
        package: Name of the package.
        names: The names that each module below the package gives.
        modules: Modules below the package that are names themselves, none by default.

    Examples:
        >>> from gadc._base.lazy_names import lazy_names
        >>> get, list_names = lazy_names("gadc", {"diffusion": ("diffuse",)}, modules=("series",))
        >>> get("diffuse").__name__, get("series").__name__, "diffuse" in list_names()
        ('diffuse', 'gadc.series', True)
    """
    homes = {name: module for module, given in names.items() for name in given}

    def get(name: str) -> Any:
        if name in modules:
            return import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)  # the next access does not come here
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes, *modules})

    return get, list_names
