"""Options to resume stored work, and the file that holds it."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Protocol, TypeVar

import typer

from gadc.cli._options.output import check_file
from gadc.cli._output import say

Resume = Annotated[
    bool,
    typer.Option("--resume/--fresh", help="Resume from stored results, or set them aside and start again."),
]


class Stored(Protocol):
    """A file of finished work, which knows how much it holds."""

    def __len__(self) -> int: ...


Store = TypeVar("Store", bound=Stored)


def open_store(
    path: Path | None, option: str, open_file: Callable[[Path], Store], *, what: str, resume: bool
) -> Store | None:
    """Open the file to which finished work is added, and say what it holds already.

    Args:
        path: The file; None for none.
        option: The option that names it, for errors.
        open_file: Function that opens it; it raises a ValueError if the file belongs to other work.
        what: What the file holds, such as "attacks".
        resume: Whether to use what it holds; otherwise the file is renamed to FILE.old.
    """
    if path is None:
        return None
    check_file(path, option)
    if not resume and path.exists():
        path.replace(path.with_name(f"{path.name}.old"))
    try:
        store = open_file(path)
    except ValueError as error:
        raise ValueError(f"{option}: {error} Start again with --fresh.") from error
    if len(store):
        say(f"Resuming from {len(store):,} {what} in {path}.")
    return store
