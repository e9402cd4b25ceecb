"""One piece of work, and the pieces of work that may run side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gadc._base.tasks._places import place_exists


@dataclass(frozen=True)
class Task:
    """One piece of work, from files to files.

    Args:
        name: Name in progress and errors, such as "hops/slab-0003".
        function: Function of a module, since workers import it by its name. Its result is not used.
        arguments: Arguments of the function: names of files, ranges and settings, never large arrays.
        outputs: Files that the function writes, whole or not at all. If all exist, the task is done.
        num_bytes: Number of bytes that the task reads and writes, for progress. Default: 0.

    Examples:
        >>> from gadc._base.tasks import Task, run_stages, Stage, write_whole
        >>> def greet(path):
        ...     write_whole(path, lambda file: file.write_text("hello"))
        >>> task = Task("greet", greet, ("greeting.txt",), ("greeting.txt",))
        >>> run_stages([Stage("greetings", [task])])
        >>> task.is_done()
        True
    """

    name: str
    function: Callable[..., None]
    arguments: tuple[Any, ...]
    outputs: tuple[str, ...]
    num_bytes: int = 0

    def __post_init__(self) -> None:
        if not self.outputs:  # it would never count as done
            raise ValueError(f"Task: outputs must name at least one file, got none for {self.name!r}.")

    def is_done(self) -> bool:
        """Return whether all outputs exist."""
        return all(place_exists(output) for output in self.outputs)


@dataclass(frozen=True)
class Stage:
    """Tasks that may run side by side, once the stages before are done.

    Args:
        name: Name in progress, such as "hops".
        tasks: The tasks, or a function that makes them when the stages before are done.
    """

    name: str
    tasks: Sequence[Task] | Callable[[], Sequence[Task]]

    def make_tasks(self) -> list[Task]:
        """Return the tasks. A function that makes them may read the files of earlier stages."""
        return list(self.tasks() if callable(self.tasks) else self.tasks)
