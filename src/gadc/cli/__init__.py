"""The `gadc` command. Each group of commands is one file of this package with an `app` of its own."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from gadc._version import __version__
from gadc.cli import _data as data
from gadc.cli._attack import attack
from gadc.cli._audit import audit
from gadc.cli._demo import demo
from gadc.cli._denoise import denoise
from gadc.cli._edges import edges
from gadc.cli._evaluate import evaluate
from gadc.cli._fit import fit
from gadc.cli._inspect import inspect
from gadc.cli._predict import predict
from gadc.cli._reproduce import report, reproduce

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Graph Adversarial Diffusion Convolution.")
app.add_typer(data.app, name="data")
for command in (demo, inspect, denoise, fit, predict, evaluate, edges, attack, audit, reproduce, report):
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gadc {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main(args: Sequence[str] | None = None) -> None:
    """Run a command. Exit code 0: done; 1: it could not be done; 2: the request makes no sense.

    What a user can cause ends in one line, without a traceback.
    """
    try:
        app(args=None if args is None else list(args))
    except (OSError, ImportError, ValueError) as error:
        from gadc.datasets import ChecksumError

        typer.echo(f"error: {error}", err=True)
        sys.exit(2 if isinstance(error, ValueError) and not isinstance(error, ChecksumError) else 1)
