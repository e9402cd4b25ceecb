"""Curves of accuracy against budget."""

import pytest

from gadc.report import BudgetCurve, BudgetCurves
from tests.helpers.run_samples import HOSTILE

pytest.importorskip("matplotlib")


def curves(**changes):
    fields = {
        "title": "Curves",
        "curves": (
            BudgetCurve(label="PGD", points=((0.1, 60.0), (0.2, 40.0))),
            BudgetCurve(label=HOSTILE, points=((0.1, 70.0),)),
        ),
        "clean": 80.0,
        "lowest": ((0.1, 60.0), (0.2, 40.0)),
        "graph_free": 65.0,
    }
    return BudgetCurves(**(fields | changes))


def test_budget_curves_name_their_lines_and_start_without_an_attack():
    svg = curves().svg()
    for text in ("PGD", "strongest attack", "MLP without the graph", "share of the edges"):
        assert text in svg
    assert "<script>" not in svg
    assert curves().svg() == svg
    assert curves(clean=90.0).svg() != svg


def test_budget_curves_without_an_attack_can_be_drawn():
    assert "<svg" in curves(curves=(), lowest=()).svg()
