"""The report of a lab in words: plain text, and HTML for notebooks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

import polars as pl

from gadc._base.text import visible
from gadc.lab._findings import Findings
from gadc.lab._kind import Kind
from gadc.lab._view import GraphView


class Report(str):
    """The report in words: a string that shows as HTML in a notebook.

    Made of two texts: the words, and the same as HTML.

    Examples:
        >>> from gadc.lab import Report
        >>> print(Report("All is well.", "<p>All is well.</p>"))
        All is well.
    """

    _html: str

    def __new__(cls, text: str, html: str) -> Report:
        made = super().__new__(cls, text)
        made._html = html
        return made

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return str(self)


def overview(view: GraphView) -> str:
    """Describe the graph in one sentence."""
    parts = [f"{view.num_nodes:,} nodes", f"{view.pairs.shape[1]:,} edges"]
    parts.append("no features" if view.features is None else f"{view.features.shape[1]:,} features")
    count = len(view.labelled)
    parts.append(f"{count:,} labels of {view.num_classes} classes" if count else "no labels")
    return f"A graph of {', '.join(parts)}."


def summary_frame(
    findings: Mapping[str, Findings], kinds: Mapping[str, Kind], skipped: Mapping[str, str]
) -> pl.DataFrame:
    """Make the table with one row per kind."""
    rows = []
    for name, one in findings.items():
        total = len(one.frame)
        rows.append(
            {
                "kind": name,
                "issues": one.num_issues,
                "judged": total,
                "share": one.num_issues / total if total else 0.0,
                "expected_true": None if math.isnan(one.expected) else one.expected,
                "expected_precision": None if math.isnan(one.expected_precision) else one.expected_precision,
                "meaning": one.summary,
            }
        )
    rows += [{"kind": name, "meaning": f"Not looked for: {reason}."} for name, reason in skipped.items()]
    schema = {"kind": pl.String, "issues": pl.Int64, "judged": pl.Int64, "share": pl.Float64}
    schema |= {"expected_true": pl.Float64, "expected_precision": pl.Float64, "meaning": pl.String}
    return pl.DataFrame(rows, schema=schema)


def report_lines(
    view: GraphView,
    findings: Mapping[str, Findings],
    kinds: Mapping[str, Kind],
    skipped: Mapping[str, str],
    named: object,
) -> list[str]:
    """Write the report as lines of text; `named(name)` gives the table of a kind under the user's ids."""
    lines = [overview(view), ""]
    for name, one in findings.items():
        lines += [f"{kinds[name].title} ({name})", f"  {one.summary}"]
        if not math.isnan(one.expected) and one.threshold is not None:
            lines.append(f"  About {one.expected:,.0f} true issues are expected in total, flagged or not.")
        lines += [f"  Note: {note}" for note in one.notes]
        worst = named(name).filter("is_issue").head(3)  # type: ignore[operator]
        ids = worst.columns[: worst.columns.index("is_issue")]
        for row in worst.iter_rows(named=True):
            items = " - ".join(visible(str(row[column]))[:60] for column in ids)
            lines.append(f"    {items}: {row['reasons']}")
        lines.append("")
    lines += [f"Not looked for: {name}, since {reason}." for name, reason in skipped.items()]
    return lines


def html_of(view: GraphView, summary: pl.DataFrame) -> str:
    """Write the summary as HTML, for notebooks."""
    head = "".join(
        f"<th>{name}</th>" for name in ("kind", "issues", "judged", "expected true", "what it means")
    )
    rows = []
    for row in summary.iter_rows(named=True):
        expected = "" if row["expected_true"] is None else f"{row['expected_true']:,.0f}"
        counts = ["" if row[key] is None else f"{row[key]:,}" for key in ("issues", "judged")]
        cells = [row["kind"], *counts, expected, row["meaning"]]
        rows.append("<tr>" + "".join(f"<td>{escape(visible(str(cell)))}</td>" for cell in cells) + "</tr>")
    body = "".join(rows)
    return (
        f"<p>{escape(overview(view))}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
