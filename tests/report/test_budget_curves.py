"""Curves of accuracy against budget, and the checks beside them."""

import re

import pytest

from gadc.report._budget_curves import BudgetCurve, BudgetCurves
from gadc.report._run_report import Verdict
from tests.helpers.run_samples import HOSTILE, run_report

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


def test_curves_start_without_an_attack_and_name_what_they_are():
    svg = curves().svg()
    for text in ("PGD", "the strongest", "MLP without the graph", "share of the edges"):
        assert text in svg
    assert "<script>" not in svg
    assert curves().svg() == svg
    assert curves(clean=90.0).svg() != svg


def test_curves_without_an_attack_are_a_point():
    assert "<svg" in curves(curves=(), lowest=()).svg()


def test_checks_are_shown_with_their_verdicts():
    checks = [
        Verdict(name="good", passed=True, detail="1 / 1"),
        Verdict(name="bad", passed=False, detail=HOSTILE),
        Verdict(name="open", passed=None, detail="not run"),
    ]
    page = run_report(checks=checks).html()
    words = re.findall(r'<span class="gap (\w+)">([\w ]+)</span>', page)
    assert words == [("better", "pass"), ("failed", "FAIL"), ("even", "not judged")]
    assert HOSTILE not in page
    assert 'aria-label="Checks"' not in run_report(checks=()).html()
