"""The worst items of each kind, with everything that the page says about them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl

from gadc.lab._decisions import OWN, decided
from gadc.lab._findings import COMMON, Findings
from gadc.lab._kind import Kind
from gadc.lab._page._facts import Facts, Grid
from gadc.lab._page._neighborhood import Weights
from gadc.lab._page._picture import Picture, picture_of
from gadc.lab._view import GraphView, Integers
from gadc.report._style import shortened

SHOWN = 50  # items per kind
_TEXT = 80  # characters of a cell
_REASONS = 400  # characters of the reasons
_NAME = 200  # characters of an id in the panel
_EXTRA = 8  # columns of the kind
_EFFECTS = ("effect_source", "effect_target")


class Examined(Protocol):
    """What the page needs of a lab."""

    view: GraphView
    findings: dict[str, Findings]
    kinds: dict[str, Kind]
    skipped: dict[str, str]

    def id_columns(self, kind: str) -> dict[str, str]:
        """Return the columns of node numbers, and their names."""

    def precision_so_far(self) -> dict[str, tuple[int, int]]:
        """Return how many flagged items were confirmed and how many decided, by kind."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell of the list: its text, and the number it is sorted by ("" stays last)."""

    text: str
    sort: float | str


@dataclass(frozen=True, kw_only=True)
class Item:
    """A row of the list, and its panel.

    Attributes:
        ids: The ids as the user wrote them, for the export.
        names: The ids shortened.
        flagged: Whether the item is flagged.
        decision: An earlier decision, which can only be "unsure", or None.
        note: The note on it.
        cells: Cells of the list.
        reasons: The reasons in words.
        verdict: Probability and score in words.
        picture: The neighbourhood, if the item has one.
        grids: Small tables.
        remarks: Sentences.
    """

    ids: list[str]
    names: list[str]
    flagged: bool
    decision: str | None
    note: str
    cells: list[Cell]
    reasons: str
    verdict: str
    picture: Picture | None
    grids: list[Grid]
    remarks: list[str]


@dataclass(frozen=True, kw_only=True)
class Section:
    """A kind of issue on the page.

    Attributes:
        name: Name of the kind.
        title: Title of the kind.
        findings: What was found.
        columns: Headers of the list.
        items: The worst items, at most 50; flagged ones first.
        earlier: Ids, decision and note of each item that was decided on before.
        confirmed: How many of the flagged items were confirmed, and how many decided on before.
    """

    name: str
    title: str
    findings: Findings
    columns: list[str]
    items: list[Item]
    earlier: list[tuple[list[str], str, str]]
    confirmed: tuple[int, int]

    @property
    def num_flagged(self) -> int:
        """Number of flagged items in the list."""
        return sum(item.flagged for item in self.items)

    @property
    def expected(self) -> str:
        """The expected number of true issues in words."""
        return "" if math.isnan(self.findings.expected) else f"{self.findings.expected:,.0f}"


def sections_of(lab: Examined) -> list[Section]:
    """Collect the worst items of all kinds."""
    worst = {name: _worst(found) for name, found in lab.findings.items()}
    weights = Weights(lab.view, _nodes(lab, worst))
    facts = Facts(lab.view)
    confirmed = lab.precision_so_far()
    return [
        _section(lab, name, worst[name], weights, facts, confirmed.get(name, (0, 0))) for name in lab.findings
    ]


def _nodes(lab: Examined, worst: Mapping[str, pl.DataFrame]) -> Integers:
    """Return all nodes that items name."""
    nodes = [frame[column].to_numpy() for name, frame in worst.items() for column in lab.id_columns(name)]
    return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *nodes]))


def _worst(found: Findings) -> pl.DataFrame:
    """Return the flagged items, then those with reasons, without those that were decided on."""
    frame = found.frame
    if "decision" in frame.columns:
        frame = frame.filter(~pl.col("decision").is_in(["keep", "drop"]).fill_null(False))
    flagged = frame.filter("is_issue").head(SHOWN)
    others = frame.filter(~pl.col("is_issue") & pl.col("reasons").is_not_null())
    return pl.concat([flagged, others.head(SHOWN - len(flagged))])


def _section(
    lab: Examined, name: str, frame: pl.DataFrame, weights: Weights, facts: Facts, confirmed: tuple[int, int]
) -> Section:
    numbers, kind = lab.id_columns(name), lab.kinds[name]
    ids = frame.columns[: frame.columns.index("is_issue")]
    extra = [one for one in frame.columns if one not in (*ids, *COMMON, *_EFFECTS, *OWN)][:_EXTRA]
    measure = "score" if frame["probability"].null_count() == len(frame) else "probability"
    shown = [*ids, measure, "reasons", *extra]
    named = frame.with_columns(_ids(lab.view, frame[one], numbers) for one in ids)
    cells = [_cells(named[one], percent=one == "probability") for one in shown]
    items = []
    for place, row in enumerate(frame.iter_rows(named=True)):
        ends = tuple(int(row[one]) for one in numbers)
        exact = [str(named[one][place]) for one in ids]
        items.append(
            Item(
                ids=exact,
                names=[shortened(one, _NAME) for one in exact],
                flagged=bool(row["is_issue"]),
                decision=row.get("decision"),
                note=row.get("note") or "",
                cells=[column[place] for column in cells],
                reasons=shortened(row["reasons"] or "", _REASONS),
                verdict=_verdict(row),
                picture=picture_of(lab.view, ends, weights, items=kind.items) if ends else None,
                grids=_grids(facts, row, ends, kind, extra),
                remarks=[facts.shared(ends)] if len(ends) == 2 else [],
            )
        )
    return Section(
        name=name,
        title=kind.title,
        findings=lab.findings[name],
        columns=[numbers.get(one, one).replace("_", " ") for one in shown],
        items=items,
        earlier=_earlier(lab, name, ids),
        confirmed=confirmed,
    )


def _ids(view: GraphView, column: pl.Series, numbers: Mapping[str, str]) -> pl.Series:
    """Return the ids of a column of node numbers as text; other columns name the item themselves."""
    found = view.ids.gather(column) if column.name in numbers else column
    return found.cast(pl.String).alias(column.name)


def _grids(
    facts: Facts, row: Mapping[str, Any], ends: tuple[int, ...], kind: Kind, extra: list[str]
) -> list[Grid]:
    grids: list[Grid | None] = []
    if ends:
        effects = tuple(row.get(one) for one in _EFFECTS) if len(ends) == 2 else ()
        grids += [facts.ends(ends, edge=kind.items == "edge", effects=effects), facts.features(ends)]
    elif kind.items == "column":
        grids.append(facts.column(str(next(iter(row.values())))))
    if extra:
        rows = [[one.replace("_", " "), _text(row[one])] for one in extra]
        grids.append(Grid(title="More about it", columns=["", "value"], rows=rows))
    return [grid for grid in grids if grid is not None]


def _verdict(row: Mapping[str, Any]) -> str:
    score = "" if row["score"] is None else f"Score {row['score']:.2f} (0 is bad, 1 is good)."
    if row["probability"] is None:
        return score
    return f"Probability of a true issue: {100 * row['probability']:.0f} %. {score}".strip()


def _cells(column: pl.Series, *, percent: bool) -> list[Cell]:
    values = column.to_list()
    limit = _REASONS if column.name == "reasons" else _TEXT
    texts = [_text(value, percent=percent, limit=limit) for value in values]
    if column.dtype.is_numeric():
        return [
            Cell(text=text, sort=value if text else "") for text, value in zip(texts, values, strict=True)
        ]
    order = {
        text: place for place, text in enumerate(sorted(set(texts), key=lambda text: (text.casefold(), text)))
    }
    return [Cell(text=text, sort=order[text] if text else "") for text in texts]


def _text(value: object, *, percent: bool = False, limit: int = _TEXT) -> str:
    if value is None or value != value:  # NaN
        return ""
    if isinstance(value, float):
        return f"{100 * value:.0f} %" if percent else f"{value:.3g}"
    return shortened(f"{value:,}" if type(value) is int else str(value), limit)


def _earlier(lab: Examined, name: str, ids: list[str]) -> list[tuple[list[str], str, str]]:
    """List the decisions on items that left the list, so that a new export holds them too."""
    known, numbers = decided(lab.findings[name].frame, keep=True), lab.id_columns(name)
    if not len(known):
        return []
    columns = [_ids(lab.view, known[one], numbers).to_list() for one in ids]
    return [
        ([str(one) for one in item], decision, note)
        for *item, decision, note in zip(
            *columns, known["decision"], known["note"].fill_null(""), strict=True
        )
    ]
