"""The report of one run, such as that of `gadc demo`: one HTML file that needs nothing else."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from gadc._base.files import write_text
from gadc._version import __version__
from gadc.report._html import fill_template, inline_svg
from gadc.report._run_plots import AccuracyBars, Picture

_PACKAGES = ("torch", "torch-geometric", "numpy", "scipy", "scikit-learn", "polars")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """An entry of a table: what it says, and the number it is sorted by (none stays last)."""

    text: str
    value: float | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The table of the models that were compared.

    Attributes:
        columns: Headers; the first is that of the names.
        rows: The name and the entries of each model.
        caption: How to read the figures.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Something that must hold: what, whether it does (None: not judged), and the figures behind it."""

    name: str
    passed: bool | None
    detail: str

    @property
    def word(self) -> str:
        """The verdict for a reader."""
        return {True: "pass", False: "FAIL", None: "not judged"}[self.passed]


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """All that a report of a run says; every text is escaped when it is written.

    Attributes:
        title: Heading.
        verdict: What came out, in a sentence or two.
        command: The command that was given, to be given again.
        settings: What was asked, by name.
        card: Facts about the data, by name.
        comparison: The compared models.
        accuracies: The same as bars, shown beside the table.
        checks: What must hold for the figures to be believed.
        pictures: More plots, in their order.
        explanation: Why these settings were chosen, if a choice was made.
        notes: What a careful reader should know.
        versions: What it was made with.
    """

    title: str
    verdict: str
    command: str
    settings: Mapping[str, str]
    card: Mapping[str, str]
    comparison: Comparison
    accuracies: AccuracyBars
    checks: Sequence[Verdict] = ()
    pictures: Sequence[Picture] = ()
    explanation: str | None = None
    notes: Sequence[str] = ()
    versions: Mapping[str, str] = field(default_factory=lambda: made_with())

    def html(self) -> str:
        """The page.

        Raises:
            ImportError: matplotlib is missing.
        """
        bars, *drawn = [(picture, inline_svg(picture.svg())) for picture in (self.accuracies, *self.pictures)]
        return fill_template("run.html.j2", title=self.title, report=self, bars=bars, drawn=drawn)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page; it appears whole or not at all."""
        write_text(path, self.html())


def made_with() -> dict[str, str]:
    """Versions that decide the figures, and the machine."""
    found = {"gadc": __version__, "Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a source tree on the path without its metadata
            continue
    return {**found, "system": f"{platform.system()} {platform.machine()}"}
