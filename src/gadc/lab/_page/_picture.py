"""A neighbourhood as a picture: points, lines and texts, which the template writes as SVG."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gadc.lab._page._layout import HEIGHT, MIDDLE, WIDTH, Point, place_ends, place_own, place_shared
from gadc.lab._page._neighborhood import Neighborhood, Weights, links_among, neighborhood
from gadc.lab._view import GraphView
from gadc.report._style import CLASS_COLORS, shortened

COLORS = len(CLASS_COLORS)
_LINKS = 60  # edges among the neighbours
_NAME = 40  # characters of a name in a tooltip


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A drawn node: where, how large, the letter and colour of its class, and its name."""

    x: float
    y: float
    radius: int
    letter: str
    color: str
    title: str


@dataclass(frozen=True, kw_only=True)
class Line:
    """A drawn edge and its width."""

    path: str
    width: float


@dataclass(frozen=True, kw_only=True)
class Words:
    """A text in a picture; `anchor` is start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str = "middle"


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Everything that is drawn of one item.

    Attributes:
        spots: The nodes.
        lines: Edges at the ends.
        web: Path of the edges among the neighbours, all of one width.
        question: Path of the edge in question, or empty.
        words: Texts.
        label: What the picture shows, for those who cannot see it.
        legend: Letter, colour and name of each class in the picture.
    """

    spots: list[Spot]
    lines: list[Line]
    web: str
    question: str
    words: list[Words]
    label: str
    legend: list[tuple[str, str, str]]
    width: int = WIDTH

    @property
    def top(self) -> float:
        """Where the picture begins, so that it is no higher than its content."""
        return min([spot.y - spot.radius for spot in self.spots] + [words.y - 11 for words in self.words]) - 4

    @property
    def height(self) -> float:
        """Height of the content."""
        ends = [spot.y + spot.radius for spot in self.spots] + [words.y + 4 for words in self.words]
        return round(max(ends) + 4 - self.top, 1)


def picture_of(view: GraphView, ends: tuple[int, ...], weights: Weights, *, items: str) -> Picture:
    """Draw the neighbourhood of a node or of two.

    Args:
        view: The graph.
        ends: The node, or the two nodes.
        weights: Weights of the edges at the ends.
        items: What the item is ("edge", "pair", "node"); the edge in question is dashed.
    """
    near = neighborhood(view, ends, weights)
    at = place_ends(len(ends))
    places = dict(zip(ends, at, strict=True))
    for number, nodes in enumerate(near.own):
        places.update(zip(nodes, place_own(len(nodes), number, len(ends)), strict=True))
    places.update(zip(near.shared, place_shared(len(near.shared)), strict=True))
    around = near.around
    web = [(around[i], around[j]) for i, j in links_among(view, around, _LINKS)]
    lines = _lines(near, places, weights)
    if near.linked and items != "edge":
        lines.append(Line(path=_path([at]), width=2))
    return Picture(
        spots=[_spot(view, node, places[node], end=node in ends) for node in (*around, *ends)],
        lines=lines,
        web=_path((places[i], places[j]) for i, j in web),
        question="" if len(ends) == 1 or (near.linked and items != "edge") else _path([at]),
        words=_words(view, near, places, items),
        label=_label(near),
        legend=_legend(view, (*ends, *around)),
    )


def class_letter(number: int) -> str:
    """Return the letter of a class: A to Z, then numbers; "?" without a label."""
    return "?" if number < 0 else chr(65 + number) if number < 26 else str(number + 1)


def class_color(number: int) -> str:
    """Return the name of the colour of a class; colours repeat, letters do not."""
    return "none" if number < 0 else f"c{number % COLORS}"


def class_name(view: GraphView, number: int) -> str:
    """Return the name of a class, shortened."""
    return "no label" if number < 0 else shortened(view.class_names[number], _NAME)


def node_name(view: GraphView, node: int, limit: int = _NAME) -> str:
    """Return the id of a node, shortened."""
    return shortened(str(view.ids[node]), limit)


def _spot(view: GraphView, node: int, place: Point, *, end: bool) -> Spot:
    number = int(view.y[node])
    return Spot(
        x=place[0],
        y=place[1],
        radius=13 if end else 9,
        letter=class_letter(number),
        color=class_color(number),
        title=f"{node_name(view, node)} ({class_name(view, number)})",
    )


def _lines(near: Neighborhood, places: dict[int, Point], weights: Weights) -> list[Line]:
    found = []
    for end, own in zip(near.ends, near.own, strict=True):
        others = np.array([*own, *near.shared], dtype=np.int64)
        found += [
            (end, int(other), weight) for other, weight in zip(others, weights.of(end, others), strict=True)
        ]
    top = max((weight for *_, weight in found), default=1.0) or 1.0
    equal = len({weight for *_, weight in found}) <= 1
    return [
        Line(path=_path([(places[i], places[j])]), width=1.4 if equal else round(0.6 + 3.4 * weight / top, 1))
        for i, j, weight in found
    ]


def _path(pairs: Iterable[tuple[Point, ...] | list[Point]]) -> str:
    return "".join(f"M{x:g} {y:g}L{a:g} {b:g}" for (x, y), (a, b) in pairs)


def _words(view: GraphView, near: Neighborhood, places: dict[int, Point], items: str) -> list[Words]:
    found = []
    for end, hidden in zip(near.ends, near.hidden, strict=True):
        x, y = places[end]
        limit = 26 if len(near.ends) == 2 else 30
        found.append(Words(x=x, y=y + 27, text=node_name(view, end, limit)))
        if hidden:
            found.append(Words(x=x + _outwards(x), y=HEIGHT - 6, text=f"+ {hidden:,} more"))
    if len(near.ends) == 1:
        found += [_beside(places[node], node_name(view, node, 13)) for node in near.own[0]]
    elif near.hidden_shared:
        found.append(Words(x=WIDTH / 2, y=HEIGHT - 6, text=f"+ {near.hidden_shared:,} more shared"))
    if len(near.ends) == 2:
        known = {"edge": "this edge", "pair": "" if near.linked else "no edge"}
        found.append(Words(x=WIDTH / 2, y=MIDDLE - 5, text=known.get(items, "")))
    return [words for words in found if words.text]


def _outwards(x: float) -> float:
    """Move a text away from the middle, where texts on shared neighbours stand."""
    return -45 if x < WIDTH / 2 else 45 if x > WIDTH / 2 else 0


def _beside(place: Point, text: str) -> Words:
    """Put a name outside the circle."""
    x, y = place
    if abs(x - WIDTH / 2) < 30:
        return Words(x=x, y=y - 14 if y < MIDDLE else y + 21, text=text)
    left = x < WIDTH / 2
    return Words(x=x - 13 if left else x + 13, y=y + 3.5, text=text, anchor="end" if left else "start")


def _label(near: Neighborhood) -> str:
    counts = [len(own) + hidden for own, hidden in zip(near.own, near.hidden, strict=True)]
    if len(counts) == 1:
        return f"The node in question and its {counts[0]:,} neighbours."
    shared = len(near.shared) + near.hidden_shared
    return (
        f"The two ends in question, {shared:,} shared neighbours between them, "
        f"{counts[0]:,} other neighbours on the left and {counts[1]:,} on the right."
    )


def _legend(view: GraphView, nodes: Iterable[int]) -> list[tuple[str, str, str]]:
    numbers = sorted({int(view.y[node]) for node in nodes}, key=lambda number: (number < 0, number))
    if numbers == [-1]:
        return []
    return [(class_letter(number), class_color(number), class_name(view, number)) for number in numbers[:26]]
