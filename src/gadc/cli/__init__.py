"""The `gadc` command: one module per command, options in `_options`, HTML reports in `_pages`."""

import sys
from collections.abc import Sequence

from gadc._base.extras import require


def main(args: Sequence[str] | None = None) -> None:
    """Run a command of the command line and exit.

    The exit code is 0 if the command succeeded, 1 if it failed and 2 if the request was invalid; `gadc check`
    exits with 3 if it found issues. A failure
    that is not a bug is one line without a traceback.

    Args:
        args: Words of the command. Default: the words of the command line.
    """
    try:
        for package in ("typer", "rich"):
            require(package, "cli")
        from gadc.cli._group import app  # imports typer

        app(args=None if args is None else list(args))
    except Exception as error:
        from gadc.cli._failures import describe_failure  # imports the data sets

        failure = describe_failure(error)
        if failure is None:
            raise
        print(f"error: {failure[0]}", file=sys.stderr)
        sys.exit(failure[1])
