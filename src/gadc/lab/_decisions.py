"""Decisions of a person on single items: read, applied, counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from gadc.datasets.tables._files import open_table
from gadc.lab._findings import Findings

COLUMNS = ("kind", "source", "target", "id", "decision", "note")
OWN = ("decision", "note", "was_flagged")  # columns that decisions add to a table of findings
DECISIONS = ("keep", "drop", "unsure")


def read_decisions(decisions: Any) -> pl.DataFrame:
    """Read decisions as text, with all columns; columns that are not there are empty.

    Raises:
        ValueError: A column is missing, or a decision is not known.
    """
    table = open_table(decisions, "decisions")
    table.require("kind", "decision")
    frame = table.collect(
        table.select(**{name: table.col(name).cast(pl.String) for name in COLUMNS if name in table.schema})
    )
    for name in COLUMNS:
        if name not in frame.columns:
            frame = frame.with_columns(pl.lit(None, pl.String).alias(name))
    unknown = frame.filter(~pl.col("decision").is_in(DECISIONS) | pl.col("decision").is_null())["decision"]
    if len(unknown):
        raise ValueError(f"decisions: decision must be one of {', '.join(DECISIONS)}, got {unknown[0]!r}.")
    return frame.select(COLUMNS)


def apply_decisions(kind: str, findings: Findings, decisions: pl.DataFrame, ids: pl.Series) -> Findings:
    """Mark the decided items of a kind: `decision`, `note`, and whether each was flagged before."""
    frame = findings.frame
    own = decisions.filter(pl.col("kind") == kind)
    if not len(own) or not len(frame):
        return findings
    numbers = frame.columns[: frame.columns.index("is_issue")]
    text = ids.cast(pl.String)
    keys = [
        text.gather(frame[one]) if frame.schema[one].is_integer() else frame[one].cast(pl.String)
        for one in numbers
    ]
    if len(numbers) == 2:
        table, on = _both_ways(own), ["source", "target"]
    else:
        table, on = own.select("id", "decision", "note").unique("id", keep="last"), ["id"]
    keyed = pl.DataFrame(dict(zip(on, keys, strict=True)))
    matched = keyed.join(table, on=on, how="left", maintain_order="left")
    found, note = matched["decision"], matched["note"]
    if "decision" in frame.columns:  # a later decision on the same item replaces an earlier one
        note = pl.select(pl.when(found.is_null()).then(frame["note"]).otherwise(note)).to_series()
        found = pl.select(pl.coalesce(found, frame["decision"])).to_series()
        flagged = frame["was_flagged"]
    else:
        flagged = frame["is_issue"]
    frame = frame.with_columns(found.alias("decision"), note.alias("note"), flagged.alias("was_flagged"))
    changed = pl.when(found == "drop").then(True).when(found == "keep").then(False).otherwise("was_flagged")
    return replace(findings, frame=frame.with_columns(changed.alias("is_issue")))


def _both_ways(own: pl.DataFrame) -> pl.DataFrame:
    """List each decided pair in both directions."""
    table = own.select("source", "target", "decision", "note")
    turned = table.rename({"source": "target", "target": "source"}).select(table.columns)
    return pl.concat([table, turned]).unique(["source", "target"], keep="last")


def decided(frame: pl.DataFrame, *, keep: bool) -> pl.DataFrame:
    """Return the decided items of a table, or the others without the columns of decisions."""
    if "decision" not in frame.columns:
        return frame.clear() if keep else frame
    known = pl.col("decision").is_in(["keep", "drop"]).fill_null(False)
    return frame.filter(known) if keep else frame.filter(~known).drop(OWN)
