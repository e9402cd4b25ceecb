"""What an entry says, and how honestly."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadc.experiments import Column, Row, Table
from gadc.report._grid import lay_out, tally
from tests.helpers.report_samples import noise_summaries, noise_table, summary


def entry_of(item, **changes):
    """The entry of a single summary in its table."""
    ((_, (entry,)),) = lay_out(noise_table(**changes), [item]).lines
    return entry


def test_entry_gives_both_figures_and_the_difference():
    entry = entry_of(summary("gadc-ii", "cora-0.1", 77.2, 2.0, paper=(77.4, 2.5)))
    # sqrt(2²/100 + 2.5²/100) = 0.32 and -0.2 / 0.32 = -0.62
    assert entry.lines == ["77.2 ± 2.0 (100 runs)", "paper 77.4 ± 2.5", "✓ −0.2, −0.6 SE"]
    assert entry.tone == "even"
    assert entry.value == 77.2


@pytest.mark.parametrize(
    ("mean", "mark", "tone"),
    [
        (71.0, "✗", "worse"),
        (76.0, "✓", "worse"),
        (77.0, "✓", "even"),
        (78.0, "✓", "better"),
        (85.0, "✗", "better"),
    ],
)
def test_mark_follows_the_target_and_tone_the_standard_error(mean, mark, tone):
    entry = entry_of(summary("gadc-ii", "cora-0.1", mean, 2.5, paper=(77.0, 2.5)))
    assert (entry.gap[0], entry.tone) == (mark, tone)


def test_without_a_published_spread_the_target_decides():
    near = entry_of(summary("gadc-ii", "cora-0.1", 76.5, 2.0, paper=(77.0, None)))
    far = entry_of(summary("gadc-ii", "cora-0.1", 70.0, 2.0, paper=(77.0, None)))
    assert near.lines[1:] == ["paper 77.0", "✓ −0.5"]
    assert (near.tone, far.tone) == ("even", "worse")


def test_where_the_aim_is_to_be_ahead_nothing_is_even():
    items = [summary("gadc-ii", "cora-0.1", mean, 2.0, paper=(77.0, 2.5)) for mean in (77.5, 76.5)]
    first, second = (entry_of(replace(item, ahead=True)) for item in items)
    assert (first.gap, first.tone) == ("✓ +0.5", "better")
    assert (second.gap, second.tone) == ("✗ −0.5", "worse")


def test_not_run_shows_the_published_figure_alone():
    entry = entry_of(summary("s2gc", "cora-0.1", paper=(74.0, 10.5)))
    assert entry.lines == ["— paper 74.0 ± 10.5"]
    assert (entry.tone, entry.value) == ("absent", 74.0)


def test_failed_runs_are_counted():
    some = entry_of(summary("mlp", "cora-0.1", 50.04, 1.0, runs=1, failed=3))
    every = entry_of(summary("gadc-ii", "cora-100", paper=(60.0, 1.0), failed=2))
    assert some.lines == ["50.0 ± 1.0 (1 run, 3 failed)"]
    assert every.lines == ["2 runs failed", "paper 60.0 ± 1.0"]
    assert every.tone == "failed"


@pytest.mark.parametrize(
    ("paper", "mean", "text"),
    [
        ((76.3, 0.39), 76.0, "76.00 ± 0.50"),
        ((4.488, None), 4.5, "4.500 ± 0.500"),
        ((None, None), 81.23, "81.2 ± 0.5"),
        ((None, None), 0.1234, "0.123 ± 0.500"),
    ],
)
def test_decimals_are_those_of_the_paper(paper, mean, text):
    assert entry_of(summary("gadc-ii", "cora-0.1", mean, 0.5, paper=paper)).ours == f"{text} (100 runs)"


def test_no_negative_zero():
    assert entry_of(summary("gadc-ii", "cora-0.1", 76.99, 1.0, paper=(77.0, 1.0))).gap == "✓ +0.0, −0.1 SE"


def test_companions_are_marked_and_places_without_figures_are_blank():
    grid = lay_out(noise_table(), noise_summaries())
    assert [header for header, _ in grid.lines] == ["S²GC", "GADC (II)", "MLP_1 & ε| (ours only)"]
    assert grid.lines[0][1][1].lines == []


@given(num_rows=st.integers(1, 5), num_columns=st.integers(1, 5))
def test_the_narrower_side_is_across(num_rows, num_columns):
    rows = tuple(Row(name=f"r{i}", label=f"R{i}", model="gadc") for i in range(num_rows))
    columns = tuple(Column(name=f"c{i}", data={}) for i in range(num_columns))
    table = Table(name="gaussian", title="", source="", runs=100, columns=columns, rows=rows)
    items = [summary(row.name, column.name, 50.0, 1.0) for row in rows for column in columns]
    grid = lay_out(table, items)
    assert len(grid.columns) == min(num_rows, num_columns)
    assert len(grid.lines) == max(num_rows, num_columns)
    assert all(len(entries) == len(grid.columns) for _, entries in grid.lines)


@given(st.permutations(noise_summaries()))
def test_order_of_the_summaries_does_not_matter(items):
    assert lay_out(noise_table(), items) == lay_out(noise_table(), noise_summaries())
    assert tally(noise_table(), items) == tally(noise_table(), noise_summaries())


def test_unknown_row_is_an_error():
    with pytest.raises(ValueError, match="row must be one of s2gc, gadc-ii, mlp, got 'gcn'"):
        lay_out(noise_table(), [summary("gcn", "cora-0.1", 1.0, 1.0)])


def test_tally_counts_every_kind():
    assert tally(noise_table(), noise_summaries()) == (
        "2 figures beside the paper's (1 ✓, 1 ✗); 1 ours only; 1 not run (—); "
        "1 of ours with fewer than the paper's 100 runs; 3 failed runs."
    )
