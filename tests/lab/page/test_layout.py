"""Small neighbourhoods are drawn inside the picture, without nodes on top of each other."""

import itertools
import math

import pytest

from gadc.lab._page._layout import HEIGHT, LEFT, RIGHT, WIDTH, place_ends, place_own, place_shared


@pytest.mark.parametrize(("own", "shared"), [(0, 0), (1, 1), (6, 2), (7, 11), (12, 12)])
def test_places_of_two_ends_do_not_touch(own, shared):
    places = [*place_ends(2), *place_own(own, 0, 2), *place_own(own, 1, 2), *place_shared(shared)]
    assert all(9 <= x <= WIDTH - 9 and 9 <= y <= HEIGHT - 9 for x, y in places)
    assert all(math.dist(one, other) >= 18 for one, other in itertools.combinations(places, 2))


@pytest.mark.parametrize("own", [0, 1, 2, 12])
def test_places_of_one_node_do_not_touch(own):
    places = [*place_ends(1), *place_own(own, 0, 1)]
    assert all(9 <= x <= WIDTH - 9 and 9 <= y <= HEIGHT - 9 for x, y in places)
    assert all(math.dist(one, other) >= 22 for one, other in itertools.combinations(places, 2))


def test_own_neighbours_stand_outside_and_shared_ones_between():
    assert all(x < LEFT for x, _ in place_own(12, 0, 2))
    assert all(x > RIGHT for x, _ in place_own(12, 1, 2))
    assert all(LEFT < x < RIGHT for x, _ in place_shared(12))


def test_shared_neighbours_leave_the_line_between_the_ends_free():
    height = place_ends(2)[0][1]
    assert all(abs(y - height) >= 20 for _, y in place_shared(12))
