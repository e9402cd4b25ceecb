"""Optional packages: an error that names the extra to install instead of a bare import error."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(module: str, extra: str) -> Any:
    """Import an optional package.

    Args:
        module: Name of the package, such as "matplotlib".
        extra: Extra of gadc that installs it, such as "report".

    Returns:
        The imported module.

    Raises:
        ImportError: The package is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:  # the package is there, and something it needs is not
            raise
        raise ImportError(
            f'{module} is not installed; install it with: pip install "gadc[{extra}]"'
        ) from error
