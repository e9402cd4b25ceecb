"""The `gadc` command: one module per command, options in `_options`, HTML reports in `_pages`."""

import sys
from collections.abc import Sequence

from gadc.datasets import ChecksumError

_PACKAGES = ("typer", "rich")  # of the extra "cli"


def main(args: Sequence[str] | None = None) -> None:
    """Run a command of the command line and exit.

    The exit code is 0 if the command succeeded, 1 if it failed and 2 if the request was invalid. An error
    that a user can cause is one line without a traceback.

    Args:
        args: Words of the command. Default: the words of the command line.
    """
    try:
        from gadc.cli._group import app  # here, so that a missing package is an error of one line

        app(args=None if args is None else list(args))
    except (OSError, ImportError, ValueError) as error:
        message, package = str(error), str(getattr(error, "name", "")).partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and package in _PACKAGES:
            message = f'the gadc command needs {package}: pip install "gadc[cli]"'
        print(f"error: {message}", file=sys.stderr)
        sys.exit(2 if isinstance(error, ValueError) and not isinstance(error, ChecksumError) else 1)
