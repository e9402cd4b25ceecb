"""Where the nodes of a small neighbourhood are drawn: the same place for the same neighbourhood.

two ends    left and right; shared neighbours in a column between them, own neighbours in arcs outside
one node    in the middle, its neighbours in a circle
"""

from __future__ import annotations

import math

WIDTH, HEIGHT = 400, 310
MIDDLE = 150  # height of the ends
LEFT, RIGHT = 112, 288

Point = tuple[float, float]


def place_ends(count: int) -> list[Point]:
    """Place the one or two nodes in question."""
    return [(WIDTH / 2, MIDDLE)] if count == 1 else [(LEFT, MIDDLE), (RIGHT, MIDDLE)]


def place_own(count: int, end: int, num_ends: int) -> list[Point]:
    """Place the neighbours that an end has for itself.

    Args:
        count: Number of neighbours.
        end: Number of the end.
        num_ends: Number of ends: two have arcs to the left and right, one has a circle.
    """
    if num_ends == 1:
        turns = [2 * math.pi * (i + 0.5) / max(count, 1) - math.pi / 2 for i in range(count)]
        return [_around(WIDTH / 2, 100, turn) for turn in turns]
    center, facing = ((LEFT, math.pi), (RIGHT, 0.0))[end]
    spread = math.radians(150)
    places = []
    for i in range(count):
        part = 0.0 if count == 1 else i / (count - 1) - 0.5
        # Many neighbours stand in two rows, so that they do not touch.
        radius = 78 if count <= 6 else (64, 92)[i % 2]
        places.append(_around(center, radius, facing + spread * part * (1 if end == 0 else -1)))
    return places


def place_shared(count: int) -> list[Point]:
    """Place shared neighbours above and below the line between the ends, in turn."""
    return [(WIDTH / 2, MIDDLE + (1 if i % 2 else -1) * (28 + 22 * (i // 2))) for i in range(count)]


def _around(x: float, radius: float, turn: float) -> Point:
    return round(x + radius * math.cos(turn), 1), round(MIDDLE + radius * math.sin(turn), 1)
