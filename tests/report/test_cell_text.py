"""The text, mark and tone of a cell in every case."""

from dataclasses import replace

import pytest

from gadc.report._grid import lay_out
from tests.helpers.report_samples import noise_table, summary


def text_of(item, **changes):
    """The text of a single summary in its table."""
    ((_, (cell,)),) = lay_out(noise_table(**changes), [item]).lines
    return cell


def test_cell_text_gives_both_figures_and_the_difference():
    cell = text_of(summary("gadc-ii", "cora-0.1", 77.2, 2.0, paper=(77.4, 2.5)))
    # sqrt(2²/100 + 2.5²/100) = 0.32 and -0.2 / 0.32 = -0.62
    assert cell.lines == ["77.2 ± 2.0 (100 runs)", "paper 77.4 ± 2.5", "✓ −0.2, −0.6 SE"]
    assert cell.tone == "even"
    assert cell.value == 77.2


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
def test_cell_text_marks_the_target_and_tones_the_standard_error(mean, mark, tone):
    cell = text_of(summary("gadc-ii", "cora-0.1", mean, 2.5, paper=(77.0, 2.5)))
    assert (cell.gap[0], cell.tone) == (mark, tone)


def test_cell_text_without_a_published_std_is_toned_by_the_target():
    near = text_of(summary("gadc-ii", "cora-0.1", 76.5, 2.0, paper=(77.0, None)))
    far = text_of(summary("gadc-ii", "cora-0.1", 70.0, 2.0, paper=(77.0, None)))
    assert near.lines[1:] == ["paper 77.0", "✓ −0.5"]
    assert (near.tone, far.tone) == ("even", "worse")


def test_cell_text_is_never_even_if_the_target_is_to_be_ahead():
    items = [summary("gadc-ii", "cora-0.1", mean, 2.0, paper=(77.0, 2.5)) for mean in (77.5, 76.5)]
    first, second = (text_of(replace(item, ahead=True)) for item in items)
    assert (first.gap, first.tone) == ("✓ +0.5", "better")
    assert (second.gap, second.tone) == ("✗ −0.5", "worse")


def test_cell_text_of_a_cell_that_was_not_run_has_the_published_figure():
    cell = text_of(summary("s2gc", "cora-0.1", paper=(74.0, 10.5)))
    assert cell.lines == ["— paper 74.0 ± 10.5"]
    assert (cell.tone, cell.value) == ("absent", 74.0)


def test_cell_text_counts_failed_runs():
    some = text_of(summary("mlp", "cora-0.1", 50.04, 1.0, runs=1, failed=3))
    every = text_of(summary("gadc-ii", "cora-100", paper=(60.0, 1.0), failed=2))
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
def test_cell_text_has_the_decimals_of_the_paper(paper, mean, text):
    assert text_of(summary("gadc-ii", "cora-0.1", mean, 0.5, paper=paper)).ours == f"{text} (100 runs)"


def test_cell_text_has_no_negative_zero():
    assert text_of(summary("gadc-ii", "cora-0.1", 76.99, 1.0, paper=(77.0, 1.0))).gap == "✓ +0.0, −0.1 SE"
