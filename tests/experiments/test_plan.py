"""What is left to do: the runs of a table that are not stored under its present settings."""

from dataclasses import replace

import pytest

from gadc.experiments import Store, current_results, plan
from gadc.experiments import _tables as tables_module
from gadc.experiments._run import settings_of
from tests.helpers.results import made_result
from tests.helpers.tiny import tiny_table


def _planned(table, done=(), **choice):
    """(row, column, run) in the order of the plan."""
    return [
        (cell.row.name, cell.column.name, task.run)
        for task in plan(table, done, **choice)
        for cell in task.cells
    ]


def _store_runs(store, table, *, runs=1):
    """Store results of every cell of a table, without running anything."""
    for cell in table.cells():
        for run in range(runs):
            names = {"table": table.name, "row": cell.row.name, "column": cell.column.name}
            store.append(made_result(run, settings=settings_of(cell), **names))


def test_plan_lets_all_columns_grow_together():
    assert _planned(tiny_table(runs=2)) == [
        ("gadc", "clean", 0),
        ("mlp", "clean", 0),
        ("gadc", "noisy", 0),
        ("mlp", "noisy", 0),
        ("gadc", "clean", 1),
        ("mlp", "clean", 1),
        ("gadc", "noisy", 1),
        ("mlp", "noisy", 1),
    ]


def test_plan_puts_the_cells_of_a_column_into_one_task():
    assert [len(task.cells) for task in plan(tiny_table(runs=2), [])] == [2, 2, 2, 2]


def test_plan_respects_the_choice():
    table = tiny_table(runs=2)
    assert _planned(table, rows=["mlp"], columns=["noisy"], runs=3) == [
        ("mlp", "noisy", run) for run in range(3)
    ]
    assert _planned(table, rows=["paper"]) == []
    assert _planned(table, rows=[]) == []
    with pytest.raises(ValueError, match="row must be one of gadc, mlp, paper, got 'gat'"):
        plan(table, [], rows=["gat"])
    with pytest.raises(ValueError, match="column must be one of clean, noisy, got 'cora'"):
        plan(table, [], columns=["cora"])


def test_plan_respects_the_runs_and_columns_of_a_row():
    table = tiny_table(runs=2)
    gadc, mlp, paper = table.rows
    table = replace(table, rows=(replace(gadc, runs=1), replace(mlp, runs=4, only=("noisy",)), paper))
    planned = _planned(table)
    assert sorted(planned) == [
        ("gadc", "clean", 0),
        ("gadc", "noisy", 0),
        *(("mlp", "noisy", run) for run in range(4)),
    ]
    assert sorted(_planned(table, runs=2)) == [
        *(("gadc", column, run) for column in ("clean", "noisy") for run in range(2)),
        *(("mlp", "noisy", run) for run in range(2)),
    ]


def test_plan_leaves_out_what_is_done_and_repeats_what_failed():
    done = [made_result(column="clean"), made_result(column="clean", row="mlp", test=None, error="no")]
    planned = _planned(tiny_table(runs=1), done)
    assert planned == [("mlp", "clean", 0), ("gadc", "noisy", 0), ("mlp", "noisy", 0)]


def test_current_results_do_not_mix_settings(tmp_path):
    old, new, store = tiny_table(runs=1), tiny_table(runs=1, level=5.0), Store(tmp_path)
    _store_runs(store, old)
    kept = {(result.row, result.column) for result in current_results(new, store)}
    assert kept == {("gadc", "clean"), ("mlp", "clean")}
    _store_runs(store, new)
    assert len(current_results(new, store)) == 4
    assert len(current_results(old, store)) == 4  # the old ones are still there


def test_current_results_leave_out_rows_that_are_gone(tmp_path):
    table, store = tiny_table(runs=1), Store(tmp_path)
    _store_runs(store, table)
    smaller = replace(table, rows=table.rows[1:])
    assert {result.row for result in current_results(smaller, store)} == {"mlp"}


def test_cells_of_another_table_are_planned_and_read_there(tmp_path, monkeypatch):
    home, store = tiny_table(runs=1), Store(tmp_path)
    monkeypatch.setattr(tables_module, "load_table", {"tiny": home}.__getitem__)
    borrowed = {"name": "ours", "label": "", "same_as": {"noisy": "tiny/gadc"}}
    view = tiny_table(name="view", runs=1, more_rows=(borrowed,))
    view = replace(view, rows=view.rows[-1:])
    [task] = plan(view, [])
    assert task.cells == (home.cell("gadc", "noisy"),)
    assert current_results(view, store) == []
    _store_runs(store, home)
    [seen] = current_results(view, store)
    assert (seen.table, seen.row, seen.column, seen.test) == ("view", "ours", "noisy", 80.0)
    assert plan(view, [seen]) == []
