"""The heat maps: one square per published figure, in the colour of its verdict."""

import re
from xml.etree import ElementTree

import pytest

from gadc.experiments import Row
from gadc.report._heat_map import agreement, heat_maps
from tests.helpers.report_samples import noise_summaries, noise_table, summary

SVG = "{http://www.w3.org/2000/svg}"
LEGEND = 6  # squares


def _drawn(tables):
    """The picture as a tree; raises if it is not well-formed."""
    return ElementTree.fromstring(heat_maps(tables))


def _squares(tree):
    return [rect.get("fill") for rect in tree.iter(f"{SVG}rect")][1 + LEGEND :]  # the first is the background


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [
        (77.0, "within"),
        (79.0, "within"),
        (80.0, "higher"),
        (90.0, "far higher"),
        (74.0, "lower"),
        (60.0, "far lower"),
        (None, "not run"),
    ],
)
def test_agreement_depends_on_the_gap_in_targets(mean, verdict):
    assert agreement(summary("gadc-ii", "cora-0.1", mean, 1.0, paper=(77.0, 2.5))) == verdict


def test_heat_maps_have_a_square_per_published_figure():
    tree = _drawn([(noise_table(), noise_summaries())])
    assert len(_squares(tree)) == 4
    assert _squares(tree).count("none") == 2  # not run, and failed


def test_heat_maps_name_tables_rows_and_curves():
    texts = [text.text for text in _drawn([(noise_table(), noise_summaries())]).iter(f"{SVG}text")]
    for expected in ("gaussian", "1 of 2 within", "S²GC", "GADC (II)", "cora"):
        assert expected in texts
    assert "MLP_1 & ε|" not in texts  # without a published figure


def test_heat_maps_leave_out_tables_without_published_figures():
    items = [summary("mlp", "cora-0.1", 50.0, 1.0)]
    assert _squares(_drawn([(noise_table(), items)])) == []


def test_heat_maps_give_rows_without_common_columns_their_own_squares():
    names = ("cora-0.1", "cora-0.5", "cora-100")
    rows = tuple(Row(name=f"r{i}", label=f"<{i}>", model="gadc", published={}) for i in range(3))
    table = noise_table(rows=rows)
    items = [summary(f"r{i}", name, 70.0, 1.0, paper=(70.0, 1.0)) for i, name in enumerate(names)]
    tree = _drawn([(table, items)])
    places = {rect.get("x") for rect in list(tree.iter(f"{SVG}rect"))[1 + LEGEND :]}
    assert len(places) == 1
    assert "<0>" in [text.text for text in tree.iter(f"{SVG}text")]


def test_heat_maps_stay_within_the_width_of_the_picture():
    tables = [(noise_table(name=f"t{i}"), noise_summaries()) for i in range(9)]
    tree = _drawn(tables)
    lefts = [int(re.search(r"\d+", group.get("transform"))[0]) for group in tree.iter(f"{SVG}g")]
    assert len(lefts) == 9
    assert max(lefts) < int(tree.get("width"))
    assert lefts.count(0) > 1  # several shelves


def test_heat_maps_of_the_same_figures_are_the_same_text():
    assert heat_maps([(noise_table(), noise_summaries())]) == heat_maps([(noise_table(), noise_summaries())])
