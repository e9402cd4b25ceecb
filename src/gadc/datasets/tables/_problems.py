"""What is wrong with tables, collected so that one error says all of it, and what is repaired on request.

Reading goes on after a problem as if it was repaired, so that later problems are found as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gadc.datasets.tables._report import TableError, TableProblemsError

REPAIRS = {
    "duplicate-ids": "keep the first row of each id",
    "empty-ids": "leave out rows without an id",
    "non-numbers": "treat cells that are not numbers as empty",
    "bad-weights": "leave out edges without a usable weight",
    "bad-times": "leave out edges without a time",
}


def check_repair(owner: str, repair: str | Collection[str]) -> frozenset[str]:
    """Return the kinds of problems to repair; a single one may be given as text."""
    kinds = frozenset([repair] if isinstance(repair, str) else repair)
    for kind in sorted(kinds - set(REPAIRS), key=str):
        known = ", ".join(map(repr, REPAIRS))
        raise ValueError(f"{owner}: repair must name some of {known}, got {kind!r}.")
    return kinds


@dataclass(kw_only=True)
class Problems:
    """The problems of two tables.

    Args:
        repair: Kinds of problems that are repaired instead of reported. Default: none.
        at_once: Whether the first problem is raised at once. Default: yes.

    Attributes:
        found: The problems that were not repaired.
        notes: What was repaired.
    """

    repair: Collection[str] = ()
    at_once: bool = True
    found: list[TableError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def report(self, problem: TableError) -> None:
        """Remember a problem that is not repaired."""
        if self.at_once:
            raise problem
        self.found.append(problem)

    def settle(self, kind: str, note: str, problem: TableError) -> None:
        """Note that a problem was repaired if that was requested, or remember it with the advice to do so."""
        if kind in self.repair:
            self.notes.append(f"{note} ({kind})")
            return
        advice = f'use repair="{kind}" to {REPAIRS[kind]}'
        message = f"{problem.message.rstrip('.')}; {advice}."
        self.report(TableError(message, file=problem.file, row=problem.row, column=problem.column))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Remember an error of a step that cannot go on after it."""
        try:
            yield
        except TableError as error:
            self.report(error)

    def check(self) -> None:
        """Raise what was found: one problem as it is, several as a list."""
        if len(self.found) == 1:
            raise self.found[0]
        if self.found:
            raise TableProblemsError(self.found)
