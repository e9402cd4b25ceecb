"""The `gadc` command: one module per command, options in `_options`, HTML reports in `_pages`."""

import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from gadc._base.extras import require


def main(args: Sequence[str] | None = None) -> None:
    """Run a command of the command line and exit.

    The exit code is 0 if the command succeeded, 1 if it failed and 2 if the request was invalid; `gadc check`
    exits with 3 if it found issues, and 130 follows
    Ctrl-C. A failure that is not a bug is one line without a traceback.

    Args:
        args: Words of the command. Default: the words of the command line.
    """
    try:
        for package in ("typer", "rich"):
            require(package, "cli")
        from gadc.cli._group import app  # imports typer

        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            app(args=None if args is None else list(args), prog_name="gadc")
    except Exception as error:
        from gadc.cli._failures import describe_failure  # imports the data sets
        from gadc.cli._manners import manners

        if manners.verbose:
            traceback.print_exception(error)
        failure = describe_failure(error)
        if failure is None:
            raise
        print(f"error: {failure[0]}", file=sys.stderr)
        sys.exit(failure[1])


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning on one line, without the line of our code that raised it."""
    from gadc.cli._manners import manners  # not for --help

    if not manners.quiet:
        print(f"warning: {' '.join(str(message).split())}", file=sys.stderr)
