"""The report of one run, such as `gadc demo`: one HTML file that contains everything it needs."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from gadc._base.files import write_text
from gadc._version import __version__
from gadc.report._html import fill_template, inline_svg
from gadc.report._pictures import AccuracyBars, Picture

_PACKAGES = ("torch", "torch-geometric", "numpy", "scipy", "scikit-learn", "polars")


@dataclass(frozen=True, kw_only=True)
class ComparisonCell:
    """One cell of a comparison.

    Attributes:
        text: Text of the cell.
        value: Number by which the table is sorted; a cell without one comes last.
    """

    text: str
    value: float | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The table of the compared models.

    Attributes:
        columns: Headers; the first one is the header of the names.
        rows: The name and the cells of each model.
        caption: How to read the figures.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ComparisonCell, ...]], ...]
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The outcome of a check.

    Attributes:
        name: What must hold.
        passed: Whether it holds; None if it was not judged.
        detail: The figures behind it.
    """

    name: str
    passed: bool | None
    detail: str

    @property
    def word(self) -> str:
        """The outcome in words."""
        return {True: "pass", False: "FAIL", None: "not judged"}[self.passed]


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """The content of the report of one run; texts are escaped when the page is written.

    Attributes:
        title: Heading.
        verdict: The result in a sentence or two.
        command: The command that makes the same run.
        settings: Settings of the run by name.
        card: Facts about the data by name.
        comparison: The compared models.
        accuracies: The accuracies as bars, shown beside the table.
        tables: More tables by title, below the comparison; none by default.
        checks: Checks that must pass for the figures to be trusted; none by default.
        pictures: More pictures, in their order; none by default.
        explanation: Why these settings were chosen, if a choice was made.
        notes: Remarks on how to read the figures; none by default.
        versions: Versions of the software; those of this process by default.
    """

    title: str
    verdict: str
    command: str
    settings: Mapping[str, str]
    card: Mapping[str, str]
    comparison: Comparison
    accuracies: AccuracyBars
    tables: Mapping[str, Comparison] = field(default_factory=dict)
    checks: Sequence[Verdict] = ()
    pictures: Sequence[Picture] = ()
    explanation: str | None = None
    notes: Sequence[str] = ()
    versions: Mapping[str, str] = field(default_factory=lambda: made_with())

    def html(self) -> str:
        """Return the page.

        Raises:
            ImportError: matplotlib is missing.
        """
        bars, *drawn = [(picture, inline_svg(picture.svg())) for picture in (self.accuracies, *self.pictures)]
        return fill_template("run.html.j2", title=self.title, report=self, bars=bars, drawn=drawn)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, which appears whole or not at all."""
        write_text(path, self.html())


def made_with() -> dict[str, str]:
    """List the versions that decide the figures, and the kind of machine."""
    found = {"gadc": __version__, "Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a source tree on the path without its metadata
            continue
    return {**found, "system": f"{platform.system()} {platform.machine()}"}
