"""The page `reference/commands.md`: every command, argument and option, read from the commands themselves."""

from collections.abc import Iterator
from typing import Any

import typer
from mkdocs.structure.files import File, Files

from gadc.cli._group import COMMANDS, app, load_command

INTRODUCTION = """# Commands

Every command with its options, generated from the code. The
[guide to the command line](../how-to/command-line.md) shows how they work together. Exit codes: 0 success,
1 failure, 2 invalid request, 3 `gadc check` found issues, 130 interrupted.
"""


def on_files(files: Files, config: Any) -> Files:
    """Add the page."""
    files.append(File.generated(config, "reference/commands.md", content=make_page()))
    return files


def make_page() -> str:
    """Return the page in Markdown: options of all commands, then one section per command."""
    main = typer.main.get_command(app)
    parts = [INTRODUCTION, _options("gadc", main)]
    for name in COMMANDS:
        command = load_command(name)
        parts.append(_section(f"gadc {name}", command, level=2))
        parts += [
            _section(f"gadc {name} {inner}", one, level=3)
            for inner, one in getattr(command, "commands", {}).items()
        ]
    return "\n".join(parts)


def _section(title: str, command: Any, *, level: int) -> str:
    text = [_paragraph(one.strip()) for one in (command.help or "").split("\n\n")]
    return "\n\n".join([f"{'#' * level} {title}", *text, _options(title, command)])


def _paragraph(text: str) -> str:
    """Return a paragraph of the help; examples become a block of code."""
    start, _, commands = text.partition(": ")
    if start not in ("Example", "Examples"):
        return text
    lines = "\n".join(one.strip() for one in commands.split("   |   "))
    return f"```sh\n{lines}\n```"


def _options(title: str, command: Any) -> str:
    """Return one table per group of options, in the order of `--help`."""
    context = typer.Context(command, info_name=title)
    groups: dict[str, list[str]] = {}
    for parameter in command.params:
        if not getattr(parameter, "hidden", False):
            group = parameter.rich_help_panel or "Options"
            groups.setdefault(group, []).append(_row(parameter, context))
    return "\n".join(_tables(groups))


def _tables(groups: dict[str, list[str]]) -> Iterator[str]:
    """Return the options of the command itself first; groups that many commands share are folded."""
    for group in sorted(groups, key="Options".__ne__):
        table = ["| option | |", "| --- | --- |", *groups[group], ""]
        if group != "Options":
            table = [f'??? info "{group}"', "", *(f"    {line}" for line in table)]
        yield "\n".join(table)


def _row(parameter: Any, context: Any) -> str:
    """Return name and help of an argument or option as a row of a table."""
    written, text = parameter.get_help_record(context)
    names, text = (one.replace("|", "\\|").replace(" range>", ">") for one in (written, text))
    return f"| `{names}` | {text} |"
