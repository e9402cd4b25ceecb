"""The group of all `gadc` commands, which imports the module of a command only when that command runs."""

import re
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from gadc._version import __version__

# The first line of each command's docstring: `gadc --help` shows it without importing the command.
COMMANDS = {
    "data": "List, describe, download and verify named data sets.",
    "cache": "Show what gadc keeps in the cache folder, and clear it.",
    "card": "Write a model card in Markdown from a model file.",
    "demo": "Classify digits with noisy pixels and false edges, with and without GADC (offline, one minute).",
    "init": "Write gadc.toml with the tables of a graph and their columns, which all commands then read.",
    "pack": "Write tables of any size as a graph on disk, for --graph FOLDER of the other commands.",
    "inspect": "Describe a graph, measure every variant on it, and suggest one.",
    "denoise": "Denoise features over a graph and write them beside the ids of the nodes.",
    "update": "Keep denoised features up to date while edges and nodes change.",
    "fit": "Train a model on the labelled nodes of a graph and save it.",
    "predict": "Predict the class, number or labels of every node of a graph.",
    "evaluate": "Measure a model on the labelled nodes of a graph (for a named data set, its test nodes).",
    "check": "Look for issues in a graph: false and missing edges, wrong labels, broken features and more.",
    "edges": "Rank the edges of a graph by how little they can be trusted, the most suspicious first.",
    "attack": "Attack a trained model, store the flipped edges, and show what they do to the model.",
    "audit": "Attack a model in many ways over a range of budgets and report the lowest accuracies.",
    "certify": "Certify what no attacker can change, and attack the model within the same budgets.",
    "reproduce": "Reproduce tables of the paper and print our figures beside the published ones.",
    "report": "Write stored results as Markdown, LaTeX and HTML with plots.",
}


INTERRUPTED = 130  # 128 + the number of the signal


class LazyGroup(TyperGroup):
    """A group that knows its commands by name and help, and imports one when it is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, help=text) for name, text in COMMANDS.items()}

    def invoke(self, ctx: Any) -> Any:
        """Run the command; Ctrl-C is one line and the exit code that shells use for it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("interrupted: files that were not finished are not kept.", err=True)
            raise typer.Exit(INTERRUPTED) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and remaining arguments, as every group does."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else load_command(name), rest


def load_command(name: str) -> Any:
    """Import `gadc.cli._NAME` and build its command: a function of that name, or a group called `app`."""
    module = import_module(f"gadc.cli._{name}")
    group = getattr(module, "app", None)
    if group is None:
        group = typer.Typer(add_completion=False)
        group.command(name)(getattr(module, name))
    command = get_command(group)
    for one in (command, *getattr(command, "commands", {}).values()):
        one.help = _join_lines(one.help or "")
    return command


def _join_lines(text: str) -> str:
    """Join the lines of each paragraph, so that they wrap at the width of the terminal."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    help="Graph Adversarial Diffusion Convolution: learning on noisy, attacked or heterophilic graphs.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gadc {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Leave out notes, warnings and progress; errors stay.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the traceback of an error, not only its line.")
    ] = False,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Number of threads. Default: all cores.")
    ] = None,
) -> None:
    from gadc.cli._manners import set_manners, set_threads  # not for --help

    set_manners(quiet=quiet, verbose=verbose)
    if threads is not None:
        set_threads(threads)
