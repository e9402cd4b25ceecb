"""Options that are lists of names, or describe text files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gadc._base.deferred import deferred

if TYPE_CHECKING:
    from gadc.datasets import CsvOptions

with deferred():
    from gadc import datasets


def split_names(text: str | None) -> list[str]:
    """Return the names that commas separate; none for no text."""
    return [name.strip() for name in text.split(",")] if text else []


def make_csv_options(separator: str | None, encoding: str | None, decimal: str | None) -> CsvOptions:
    """Return how text tables are written; "tab" names the character that is hard to type in a shell."""
    return datasets.CsvOptions(
        separator="\t" if separator in ("tab", "\\t") else separator, encoding=encoding, decimal=decimal
    )
