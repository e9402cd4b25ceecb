"""A report in plain words for readers who did not do the work: short sections, lists and ranked tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from gadc._base.files import write_text
from gadc._version import __version__
from gadc.report._html import fill_template


@dataclass(frozen=True, kw_only=True)
class PlainTable:
    """A table of texts.

    Attributes:
        title: What the rows are, read before the table.
        columns: Headers.
        rows: One text per column for each row.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class PlainSection:
    """A section of a report in plain words.

    Attributes:
        title: Heading.
        texts: Paragraphs; none by default.
        tables: Tables after the paragraphs; none by default.
        points: Items of a list at the end; none by default.
    """

    title: str
    texts: Sequence[str] = ()
    tables: Sequence[PlainTable] = ()
    points: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class PlainReport:
    """The content of a report in plain words; texts are escaped when the page is written.

    Attributes:
        title: Heading.
        summary: The result in a few sentences.
        sections: The sections in their order.
        command: The command that makes the same page.

    Examples:
        >>> from gadc.report import PlainReport, PlainSection
        >>> looked_at = PlainSection(title="What was looked at", texts=["12 accounts."])
        >>> page = PlainReport(title="Fraud", summary=["Nothing."], sections=[looked_at], command="gadc")
        >>> "<h2>What was looked at</h2>" in page.html()
        True
    """

    title: str
    summary: Sequence[str]
    sections: Sequence[PlainSection]
    command: str

    def html(self) -> str:
        """Return the page, which runs no script and fetches nothing."""
        return fill_template("plain.html.j2", title=self.title, report=self, version=__version__)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, which appears whole or not at all."""
        write_text(path, self.html())
