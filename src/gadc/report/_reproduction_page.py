"""The page `docs/evidence/reproduction.md`: a summary with heat maps, then each figure beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gadc._base.files import write_text
from gadc.experiments import Summary, Table
from gadc.report._grid import LEGEND
from gadc.report._heat_map import heat_maps
from gadc.report._markdown import markdown_tables

_ABOUT = """## How to read the tables

This page is generated from the stored runs in `results/` by the command
`gadc report results --docs docs/evidence/reproduction.md`, and a test checks that it matches them. Any run
can be repeated on its own from the same random numbers with
`gadc reproduce TABLE --rows ROW --columns COLUMN`. Its figure differs at most by rounding, which depends on
the processor and on the order in which a version of the code adds numbers; training can enlarge it.
"""


def write_reproduction_page(tables: Sequence[tuple[Table, Sequence[Summary]]], path: Path) -> list[Path]:
    """Write the page and its picture in the folder `images` beside it, and return both paths."""
    picture = path.parent / "images" / f"{path.stem}.svg"
    picture.parent.mkdir(parents=True, exist_ok=True)
    write_text(picture, heat_maps(tables))
    write_text(path, reproduction_page(tables, picture=f"images/{picture.name}"))
    return [path, picture]


def reproduction_page(tables: Sequence[tuple[Table, Sequence[Summary]]], *, picture: str) -> str:
    """Return the page as Markdown.

    Args:
        tables: Each table with its summaries; a table without any is left out.
        picture: Address of the heat maps.
    """
    filled = [(table, summaries) for table, summaries in tables if summaries]
    alt = "Heat maps: one square per published figure, coloured by how ours compares with it"
    parts = ["# Reproduction", _totals(filled), f"![{alt}]({picture})", _overview(filled), _ABOUT, LEGEND]
    for table, summaries in filled:
        parts += [f'<a id="{table.name}"></a>', markdown_tables(table, summaries)]
    return "\n".join(part.strip() + "\n" for part in parts)


def _totals(tables: Sequence[tuple[Table, Sequence[Summary]]]) -> str:
    """Count in a few sentences what was run, and how much of it agrees with the paper."""
    matched = [item for table, items in tables if not table.ahead for item in items]
    published = [item for item in matched if item.paper_mean is not None]
    verdicts = [item.within_target for item in published if item.within_target is not None]
    outside = [item.gap or 0.0 for item in published if item.within_target is False]
    runs = sum(
        item.runs
        for table, items in tables
        for item in items
        if item.column not in table.row(item.row).same_as  # these are counted in their own table
    )
    higher = sum(gap > 0 for gap in outside)
    sentences = [
        f"**{len(verdicts)} of the paper's {len(published)} figures were run again; {sum(verdicts)} of them"
        " are within the target**, which is one published standard deviation or one point, whichever is"
        " larger.",
        f"Of the {len(outside)} others, {higher} are higher than published and {len(outside) - higher} are"
        f" lower; {len(published) - len(verdicts)} figures were not run.",
    ]
    for table, items in tables:
        if table.ahead:
            met = [item.within_target for item in items if item.within_target is not None]
            sentences.append(
                f"The best model of this library reaches or passes the best published figure in {sum(met)} of"
                f" {len(met)} cells (table `{table.name}`)."
            )
    ours = sum(item.mean is not None and item.paper_mean is None for item in matched)
    sentences.append(
        f"{ours} more figures have no published counterpart. All figures come from {runs:,} runs."
    )
    return " ".join(sentences)


def _overview(tables: Sequence[tuple[Table, Sequence[Summary]]]) -> str:
    """Return one row per table: what it is about, and how much of it agrees with the paper."""
    rows = [
        "| table | about | published | run again | within the target |",
        "| --- | --- | --- | --- | --- |",
    ]
    for table, items in tables:
        published = [item for item in items if item.paper_mean is not None]
        verdicts = [item.within_target for item in published if item.within_target is not None]
        counts = f"{len(published)} | {len(verdicts)} | {sum(verdicts)}"
        rows.append(f"| [{table.name}](#{table.name}) | {table.title} | {counts} |")
    return "\n".join(rows)
