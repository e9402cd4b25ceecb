"""Accuracies as bars."""

import pytest

from gadc.report import AccuracyBars, Bar

pytest.importorskip("matplotlib")


def test_accuracy_bars_show_a_dash_for_a_figure_that_was_not_measured():
    bars = AccuracyBars(title="t", bars=(Bar(label="a", value=float("nan")), Bar(label="b", value=50.0)))
    svg = bars.svg()
    assert ">–</text>" in svg
    assert "nan" not in svg
