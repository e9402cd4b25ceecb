"""Which neighbours are drawn, how wide their edges are, and what is written beside them."""

import polars as pl
import pytest

import gadc
from gadc.lab._page._neighborhood import SHOWN, Weights, neighborhood
from gadc.lab._page._picture import class_letter, picture_of


def lab_of(pairs, weight=None):
    u, v = zip(*pairs, strict=True)
    edges = pl.DataFrame({"source": u, "target": v})
    if weight is not None:
        edges = edges.with_columns(weight=pl.Series(weight))
    return gadc.Lab(edges, weight=None if weight is None else "weight")


def draw(lab, *ends, items="edge"):
    return picture_of(lab.view, ends, Weights(lab.view, lab.view.ids.to_numpy()), items=items)


@pytest.fixture
def hub():
    """Node 0 has 40 neighbours, among them node 1, which shares neighbours 2 and 3 with it."""
    return lab_of([(0, i) for i in range(1, 41)] + [(1, 2), (1, 3)])


def test_shared_neighbours_are_not_own_ones(hub):
    near = neighborhood(hub.view, (0, 1), Weights(hub.view, hub.view.ids.to_numpy()))
    assert near.shared == [2, 3]
    assert near.own == (list(range(4, 4 + SHOWN)), [])
    assert near.hidden == (37 - SHOWN, 0)
    assert near.linked


def test_hidden_neighbours_are_counted_in_words(hub):
    assert "+ 25 more" in [words.text for words in draw(hub, 0, 1).words]


def test_number_of_spots_is_bounded():
    dense = lab_of([(i, j) for i in range(60) for j in range(i)])
    picture = draw(dense, 0, 1)
    assert len(picture.spots) == 2 + SHOWN
    assert picture.web.count("M") == 60


def test_heaviest_edges_are_drawn_and_are_the_widest():
    lab = lab_of([(0, i) for i in range(1, 31)], weight=[float(i) for i in range(1, 31)])
    picture = draw(lab, 0, items="node")
    assert [spot.title.split()[0] for spot in picture.spots[:3]] == ["30", "29", "28"]
    widths = [line.width for line in picture.lines]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == 4.0


def test_edges_without_weights_have_one_width(hub):
    assert {line.width for line in draw(hub, 0, 1).lines} == {1.4}


def test_only_the_edge_in_question_is_dashed(hub):
    assert draw(hub, 0, 1).question == "M112 150L288 150"
    assert draw(hub, 0, items="node").question == ""
    assert draw(hub, 2, 3, items="pair").question != ""  # no edge: it may be missing
    assert draw(hub, 0, 1, items="pair").question == ""  # an edge that nobody asks about


def test_picture_is_as_high_as_its_content(hub):
    assert draw(hub, 5, 6).height < draw(hub, 0, 1).height


def test_picture_of_a_node_without_edges():
    lab = gadc.Lab(pl.DataFrame({"source": [1], "target": [2]}), pl.DataFrame({"id": [1, 2, 3]}))
    picture = draw(lab, 2, items="node")
    assert (len(picture.spots), picture.lines) == (1, [])
    assert "0 neighbours" in picture.label


def test_letters_tell_all_classes_apart():
    letters = [class_letter(number) for number in range(-1, 60)]
    assert len(set(letters)) == len(letters)
