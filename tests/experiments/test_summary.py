"""Figures of a cell, worked out by hand."""

import math
from dataclasses import replace

import pytest

from gadc.experiments import summarize
from gadc.experiments._tables import parse_table
from tests.helpers.results import made_result


def _table(published, *, runs=4, **more):
    rows = [
        {"name": "gadc", "label": "GADC", "model": "gadc", "published": published},
        {"name": "mlp", "label": "MLP", "model": "mlp"},
    ]
    columns = [{"name": name, "data": {"name": "digits"}} for name in ("a", "b")]
    return parse_table(
        "t", {"title": "", "source": "", "runs": runs, "columns": columns, "rows": rows, **more}
    )


def _results(*tests, row="gadc", column="a"):
    """One run per value; None stands for a failed run."""
    return [
        made_result(run, row=row, column=column, seconds=10.0 * run, test=test, error="no" * (test is None))
        for run, test in enumerate(tests)
    ]


def test_summary_has_the_mean_and_the_population_std():
    [summary] = summarize(_table({"a": [70.0, 3.0]}), _results(70.0, 74.0, 70.0, 74.0))
    assert (summary.table, summary.row, summary.column) == ("t", "gadc", "a")
    assert (summary.runs, summary.failed, summary.paper_runs) == (4, 0, 4)
    assert (summary.mean, summary.std) == (72.0, 2.0)
    assert (summary.paper_mean, summary.paper_std) == (70.0, 3.0)
    assert summary.gap == 2.0
    assert summary.seconds == 15.0


def test_gap_in_errors_uses_the_standard_error_of_the_difference():
    [summary] = summarize(_table({"a": [70.0, 3.0]}, runs=9), _results(70.0, 74.0, 70.0, 74.0))
    assert summary.gap_in_errors == pytest.approx(2.0 / math.sqrt(2.0**2 / 4 + 3.0**2 / 9))
    [below] = summarize(_table({"a": [74.0, 3.0]}, runs=9), _results(70.0, 74.0, 70.0, 74.0))
    assert below.gap_in_errors == pytest.approx(-summary.gap_in_errors)


@pytest.mark.parametrize(
    ("published", "tests"),
    [([70.0], (70.0, 74.0)), ([70.0, 0.0], (72.0, 72.0)), ([70.0, 1.0], (None,)), ([70.0, 1.0], ())],
    ids=["paper has no spread", "no spread at all", "all failed", "not run"],
)
def test_gap_in_errors_is_none_without_a_spread(published, tests):
    [summary] = summarize(_table({"a": published}), _results(*tests))
    assert summary.gap_in_errors is None


@pytest.mark.parametrize(
    ("published", "tolerance", "mean", "within"),
    [
        ([70.0, 3.0], 1.0, 73.0, True),
        ([70.0, 3.0], 1.0, 67.0, True),
        ([70.0, 3.0], 1.0, 73.1, False),
        ([70.0, 0.5], 1.0, 71.0, True),
        ([70.0, 0.5], 1.0, 68.9, False),
        ([70.0], 1.0, 70.9, True),
        ([70.0], 1.0, 71.1, False),
        ([70.0, 0.5], 0.0, 70.6, False),
        ([70.0, 0.5], 5.0, 74.0, True),
    ],
)
def test_target_is_one_published_std_or_the_tolerance(published, tolerance, mean, within):
    [summary] = summarize(_table({"a": published}, tolerance=tolerance), _results(mean))
    assert summary.within_target is within


def test_row_can_have_its_own_tolerance():
    table = _table({"a": [70.0]}, tolerance=5.0)
    strict = replace(table, rows=(replace(table.rows[0], tolerance=0.0),))
    [loose], [exact] = summarize(table, _results(72.0)), summarize(strict, _results(72.0))
    assert (loose.within_target, exact.within_target) == (True, False)


@pytest.mark.parametrize(("mean", "met"), [(69.9, False), (70.0, True), (90.0, True)])
def test_target_of_being_ahead_is_met_from_the_published_mean_on(mean, met):
    table = replace(_table({"a": [70.0, 3.0]}), ahead=True)
    [summary] = summarize(table, _results(mean, mean))
    assert summary.within_target is met
    assert summary.gap_in_errors is None


def test_summary_counts_failed_runs_separately():
    [summary] = summarize(_table({}), _results(70.0, None, 74.0, None, None))
    assert (summary.runs, summary.failed, summary.mean, summary.std) == (2, 3, 72.0, 2.0)
    assert summary.seconds == 10.0
    assert summary.within_target is None


def test_summary_of_failed_runs_has_no_figure():
    [summary] = summarize(_table({"a": [70.0, 3.0]}), _results(None, None))
    assert (summary.runs, summary.failed) == (0, 2)
    assert (summary.mean, summary.std, summary.seconds, summary.gap) == (None, None, None, None)
    assert summary.paper_mean == 70.0


def test_summarize_covers_cells_that_were_run_or_published_in_the_order_of_the_table():
    results = _results(60.0, row="mlp", column="b") + _results(50.0, row="mlp", column="a")
    summaries = summarize(_table({"b": [70.0, 3.0]}), results)
    assert [(s.row, s.column, s.runs, s.mean) for s in summaries] == [
        ("gadc", "b", 0, None),
        ("mlp", "a", 1, 50.0),
        ("mlp", "b", 1, 60.0),
    ]
