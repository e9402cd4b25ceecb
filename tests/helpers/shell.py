"""The shell blocks of the pages: their lines, and the `gadc` commands among them."""

import re
import shlex

import typer

from gadc.cli._group import COMMANDS, app, load_command
from tests.helpers.paths import DOCS, ROOT

FENCES = re.compile(r"^```(python|sh|bash|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<!`)`(gadc [^`\n]+)`(?!`)")


def pages():
    """Return every page by its name."""
    found = {name: ROOT / name for name in ("README.md", "CONTRIBUTING.md")}
    return found | {page.relative_to(DOCS).as_posix(): page for page in sorted(DOCS.rglob("*.md"))}


def blocks(page):
    """Return language and text of the Python and shell blocks of a page, in their order."""
    return [
        (language if language == "python" else "sh", text)
        for language, text in FENCES.findall(page.read_text(encoding="utf-8"))
    ]


def lines(text):
    """Return the commands of a shell block, without prompts, comments and line breaks inside one."""
    whole = text.replace("\\\n", " ").splitlines()
    split = (shlex.split(line.removeprefix("$ "), comments=True) for line in whole)
    return [shlex.join(words) for words in split if words]


def commands(page):
    """Return the `gadc` commands in the shell blocks of a page."""
    shell = [text for language, text in blocks(page) if language == "sh"]
    return [line for text in shell for line in lines(text) if line.startswith("gadc ")]


def mentions(page):
    """Return the `gadc` commands that stand as code in the sentences of a page."""
    return INLINE.findall(FENCES.sub("", page.read_text(encoding="utf-8")))


def parse(line):
    """Parse a `gadc` command as the command line does, types and choices too, without running it."""
    command, rest = _find(shlex.split(line)[1:])
    assert rest or not hasattr(command, "commands") or line == "gadc --version", f"{line}: which command?"
    if not hasattr(command, "commands"):
        command.make_context("gadc", rest)


def unknown_names(line):
    """Return the words of a mentioned command that neither it nor its options are called."""
    _, *words = shlex.split(line.split(" | ")[0])
    main = typer.main.get_command(app)
    known = [main, *(load_command(word) for word in words if word in COMMANDS)]
    known += [
        inner for one in known[1:] for name, inner in getattr(one, "commands", {}).items() if name in words
    ]
    options = {name for one in known for each in one.params for name in (*each.opts, *each.secondary_opts)}
    unknown = [
        word for word in words if word.startswith("-") and word.split("=")[0] not in {*options, "-", "--help"}
    ]
    alone = words[:1] if len(known) == 1 and not words[0].startswith("-") and words[0] != "COMMAND" else []
    return [*unknown, *alone]


def _find(words):
    """Return the command that the first words name, and the words after them."""
    command = typer.main.get_command(app)
    while hasattr(command, "commands"):
        context = typer.Context(command, info_name="gadc")
        _, rest, _ = command.make_parser(context).parse_args(args=list(words))
        if not rest:
            return command, rest
        name, *words = rest
        assert name in command.commands, f"gadc has no command {name}"
        command = load_command(name) if name in COMMANDS else command.commands[name]
    return command, words
