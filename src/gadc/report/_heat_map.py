"""Heat maps: one small picture that shows for every published figure whether ours agrees with it.

Written as plain SVG, so that the same figures give the same text. The colours can be told apart by most
colour-blind readers, and the signs + and − repeat what they say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from gadc.experiments import Row, Summary, Table

_WIDTH = 820  # of the picture, in pixels
_CELL = 12  # of a cell and the space around it
_LETTER = 5.2  # mean width of a letter of the labels
_SLOPE = math.radians(50)  # of the labels of columns
_FAR = 3.0  # targets from which a difference counts as far

_COLORS = {
    "far lower": "#a8480a",
    "lower": "#e07a2f",
    "within": "#b9d9cb",
    "higher": "#5b9bd5",
    "far higher": "#1b5ba3",
    "not run": "none",
}
_LEGEND = {
    "within": "within the target",
    "higher": "higher",
    "far higher": f"higher by more than {_FAR:g} targets",
    "lower": "lower",
    "far lower": f"lower by more than {_FAR:g} targets",
    "not run": "not run",
}
_STYLE = (
    "text{font:10px system-ui,sans-serif;fill:#1f2430}.name{font-weight:600;font-size:11px}"
    ".sign{font-weight:700;font-size:11px;fill:#fff;text-anchor:middle}.end{text-anchor:end}.soft{fill:#5d6673}"
)


def heat_maps(tables: Iterable[tuple[Table, Sequence[Summary]]]) -> str:
    """Draw all tables that have published figures as one SVG picture, side by side as far as they fit."""
    parts, y = [_legend()], 26.0
    for shelf in _shelves([_heat_map(table, items) for table, items in tables if _published(items)]):
        x = 0.0
        for one in shelf:
            parts.append(f'<g transform="translate({x:.0f} {y:.0f})">{one.content}</g>')
            x += one.width
        y += max(one.height for one in shelf)
    height = y
    size = f'width="{_WIDTH}" height="{height:.0f}" viewBox="0 0 {_WIDTH} {height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><style>{_STYLE}</style>'
    paper = '<rect width="100%" height="100%" rx="6" fill="#fff"/>'
    return "\n".join([head, paper, *parts, "</svg>"]) + "\n"


def agreement(item: Summary) -> str:
    """Say how our figure compares with the published one, as a key of the legend."""
    if item.gap is None:
        return "not run"
    if item.within_target:
        return "within"
    side = "higher" if item.gap > 0 else "lower"
    return f"far {side}" if abs(item.gap) > _FAR * item.target else side


@dataclass(frozen=True)
class _Map:
    width: float
    height: float
    content: str


def _shelves(maps: Iterable[_Map]) -> list[list[_Map]]:
    """Put each map on the first shelf that has room for it."""
    shelves: list[list[_Map]] = []
    for one in maps:
        room = (shelf for shelf in shelves if sum(other.width for other in shelf) + one.width <= _WIDTH)
        shelf = next(room, None)
        if shelf is None:
            shelves.append([one])
        else:
            shelf.append(one)
    return shelves


def _heat_map(table: Table, items: Sequence[Summary]) -> _Map:
    found = {(item.row, item.column): item for item in _published(items)}
    rows = [row for row in table.rows if any(name == row.name for name, _ in found)]
    groups = _column_groups(table, {column for _, column in found})
    if len(found) == len({column for _, column in found}) and len(rows) > 1:
        return _ragged(table, rows, found)
    left = _label_width(rows)
    top = 30 + max(_LETTER * len(label) * math.sin(_SLOPE) for label, _ in groups)
    parts, x, right = _caption(table, found.values()), left, 0.0
    for label, columns in groups:
        middle = x + _CELL * len(columns) / 2
        place = f"translate({middle:.1f} {top - 4:.1f}) rotate({-math.degrees(_SLOPE):.0f})"
        parts.append(f'<text class="soft" transform="{place}">{escape(label)}</text>')
        right = max(right, middle + _LETTER * len(label) * math.cos(_SLOPE))
        for column in columns:
            parts += [
                _square(agreement(found[row.name, column]), x, top + _CELL * number)
                for number, row in enumerate(rows)
                if (row.name, column) in found
            ]
            x += _CELL
        x += 2
    parts += _row_labels(rows, left, top)
    return _Map(max(x + 10, right, 110.0), top + _CELL * len(rows) + 18, "".join(parts))


def _ragged(table: Table, rows: Sequence[Row], found: dict[tuple[str, str], Summary]) -> _Map:
    """Draw a table whose rows have no column in common: each row has its own columns, without labels."""
    left, top, longest = _label_width(rows), 38.0, 0
    parts = _caption(table, found.values())
    for number, row in enumerate(rows):
        here = [item for (name, _), item in found.items() if name == row.name]
        longest = max(longest, len(here))
        y = top + _CELL * number
        parts += [_square(agreement(item), left + _CELL * i, y) for i, item in enumerate(here)]
    parts += _row_labels(rows, left, top)
    return _Map(left + _CELL * longest + 14, top + _CELL * len(rows) + 18, "".join(parts))


def _published(items: Iterable[Summary]) -> list[Summary]:
    return [item for item in items if item.paper_mean is not None]


def _column_groups(table: Table, names: set[str]) -> list[tuple[str, list[str]]]:
    """Put neighbouring columns of one curve under one label."""
    columns = [column for column in table.columns if column.name in names]
    grouped = groupby(columns, key=lambda column: column.series or column.name)
    return [(label, [column.name for column in group]) for label, group in grouped]


def _caption(table: Table, items: Iterable[Summary]) -> list[str]:
    verdicts = [item.within_target for item in items if item.within_target is not None]
    met = "reached or passed" if table.ahead else "within"
    count = f"{sum(verdicts)} of {len(verdicts)} {met}" if verdicts else "not run"
    return [
        f'<text class="name" x="12" y="14">{escape(table.name)}</text>',
        f'<text class="soft" x="12" y="27">{count}</text>',
    ]


def _label_width(rows: Sequence[Row]) -> float:
    return 16 + 1.08 * _LETTER * max(len(row.label) for row in rows)


def _row_labels(rows: Sequence[Row], left: float, top: float) -> list[str]:
    places = [f'x="{left - 5:.1f}" y="{top + _CELL * number + 8.5:.1f}"' for number in range(len(rows))]
    return [
        f'<text class="end" {place}>{escape(row.label)}</text>'
        for place, row in zip(places, rows, strict=True)
    ]


def _square(kind: str, x: float, y: float) -> str:
    edge = ' stroke="#9aa4b2"' if kind == "not run" else ""
    size = _CELL - 2 if not edge else _CELL - 3
    square = f'<rect x="{x:.1f}" y="{y:.1f}" width="{size}" height="{size}" fill="{_COLORS[kind]}"{edge}/>'
    sign = "+" if kind.endswith("higher") else "−" if kind.endswith("lower") else ""
    if not sign:
        return square
    return f'{square}<text class="sign" x="{x + size / 2:.1f}" y="{y + size - 1.5:.1f}">{sign}</text>'


def _legend() -> str:
    parts, x = [], 12.0
    for kind, text in _LEGEND.items():
        parts.append(_square(kind, x, 6) + f'<text x="{x + 16:.0f}" y="15">{text}</text>')
        x += 30 + _LETTER * len(text)
    return "".join(parts)
