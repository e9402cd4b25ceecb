"""The plots of a table."""

from dataclasses import replace

import pytest

from gadc.report._curves import Curve, Plot, find_plots
from tests.helpers.report_samples import noise_summaries, noise_table, summary, sweep_summaries, sweep_table


def test_find_plots_draws_rows_that_were_run_and_the_published_gadc():
    (plot,) = find_plots(noise_table(), noise_summaries())
    assert (plot.name, plot.axis) == ("gaussian-cora", "noise level")
    assert [(curve.label, curve.published) for curve in plot.curves] == [
        ("GADC (II)", False),
        ("GADC (II), paper", True),
        ("MLP_1 & ε|", False),
    ]
    ours, paper, _ = plot.curves
    assert ours.points == ((0.1, 77.2, 2.0), (0.5, 71.6, 3.3))  # every run at 100 failed
    assert paper.points == ((0.1, 77.4, 2.5), (0.5, 67.6, 3.3), (100.0, 60.0, 1.0))
    assert ours.color == paper.color


def test_find_plots_names_the_attack_rate():
    table = noise_table()
    columns = tuple(replace(column, data={"name": "cora", "rate": column.x}) for column in table.columns)
    assert find_plots(replace(table, columns=columns), noise_summaries())[0].axis == "attack rate"


def test_find_plots_draws_a_sweep_over_eps():
    (plot,) = find_plots(sweep_table(), sweep_summaries())
    assert (plot.name, plot.axis) == ("heterophily-gadc-i-eps-texas", "ε")
    assert plot.curves[0].points == tuple((float(eps), 70.0 + eps, 1.0) for eps in range(4))
    assert plot.curves[1].published


def test_find_plots_does_not_take_a_single_eps_for_a_sweep():
    assert find_plots(sweep_table(), sweep_summaries()[:1]) == []


@pytest.mark.parametrize("items", [[], [summary("gadc-ii", "cora-0.1", paper=(77.4, 2.5))]])
def test_find_plots_is_empty_if_nothing_was_run(items):
    assert find_plots(noise_table(), items) == []


@pytest.mark.parametrize(
    ("levels", "categorical"),
    [((0.1, 0.2, 0.5, 100.0), True), ((0.25, 0.5, 0.75), False), ((0.1, 0.2, 0.4), False), ((1.0,), False)],
)
def test_plot_puts_uneven_levels_at_equal_distances(levels, categorical):
    curve = Curve(label="", points=tuple((x, 50.0, None) for x in levels), published=False, color=0)
    assert Plot(name="", title="", axis="", curves=(curve,)).categorical is categorical
