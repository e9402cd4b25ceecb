"""The layout of a table, and the sentence that counts its figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadc.experiments import Column, Row, Table
from gadc.report._grid import lay_out, tally
from tests.helpers.report_samples import noise_summaries, noise_table, summary


def test_grid_marks_rows_that_are_not_in_the_paper_and_leaves_empty_cells_blank():
    grid = lay_out(noise_table(), noise_summaries())
    assert [header for header, _ in grid.lines] == ["S²GC", "GADC (II)", "MLP_1 & ε| (not in the paper)"]
    assert grid.lines[0][1][1].lines == []


@given(num_rows=st.integers(1, 5), num_columns=st.integers(1, 5))
def test_grid_puts_the_shorter_side_across(num_rows, num_columns):
    rows = tuple(Row(name=f"r{i}", label=f"R{i}", model="gadc") for i in range(num_rows))
    columns = tuple(Column(name=f"c{i}", data={}) for i in range(num_columns))
    table = Table(name="gaussian", title="", source="", runs=100, columns=columns, rows=rows)
    items = [summary(row.name, column.name, 50.0, 1.0) for row in rows for column in columns]
    grid = lay_out(table, items)
    assert len(grid.columns) == min(num_rows, num_columns)
    assert len(grid.lines) == max(num_rows, num_columns)
    assert all(len(cells) == len(grid.columns) for _, cells in grid.lines)


@given(st.permutations(noise_summaries()))
def test_grid_does_not_depend_on_the_order_of_the_summaries(items):
    assert lay_out(noise_table(), items) == lay_out(noise_table(), noise_summaries())
    assert tally(noise_table(), items) == tally(noise_table(), noise_summaries())


def test_grid_refuses_an_unknown_row():
    with pytest.raises(ValueError, match="row must be one of s2gc, gadc-ii, mlp, got 'gcn'"):
        lay_out(noise_table(), [summary("gcn", "cora-0.1", 1.0, 1.0)])


def test_tally_counts_every_kind():
    assert tally(noise_table(), noise_summaries()) == (
        "2 figures with a published counterpart (1 ✓, 1 ✗); 1 figure without one; 1 not run (—); "
        "1 with fewer runs than the paper's 100; 3 failed runs."
    )
