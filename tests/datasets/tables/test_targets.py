"""Columns with numbers to predict, or with 0 and 1 for several labels."""

import polars as pl
import pytest
import torch

from gadc.datasets import TableError, from_tables
from gadc.datasets.tables._files import open_table
from gadc.datasets.tables._targets import looks_like_numbers

EDGES = pl.DataFrame({"source": [1, 2], "target": [2, 3]})


def _nodes(**columns):
    return pl.DataFrame({"id": [1, 2, 3], "age": [30.0, 40.0, 50.0], **columns})


def test_numbers_become_targets_and_not_features():
    data = from_tables(EDGES, _nodes(rent=[1.5, None, -3.0]), label="rent", task="regress")
    assert data.feature_names == ["age"]
    assert data.target_names == ["rent"]
    torch.testing.assert_close(
        data.target, torch.tensor([1.5, torch.nan, -3.0], dtype=torch.float64), equal_nan=True
    )
    assert data.y is None
    assert data.table_report.labelled == 2


@pytest.mark.parametrize("cells", [[1, None, 0], [True, None, False], ["yes", "", "No"], ["1", " ", "0"]])
def test_flags_are_numbers_booleans_or_words(tmp_path, cells):
    frame = _nodes(a=cells, b=[0, None, 1])
    frame.write_csv(tmp_path / "nodes.csv")
    for nodes in (tmp_path / "nodes.csv", *([] if "" in cells or " " in cells else [frame])):
        data = from_tables(EDGES, nodes, label=["a", "b"], task="multilabel")
        assert data.feature_names == ["age"]
        assert data.target[0].tolist() == [1.0, 0.0]
        assert data.target[2].tolist() == [0.0, 1.0]
        assert data.target[1].isnan().all()
        assert data.table_report.labelled == 2


@pytest.mark.parametrize(
    ("columns", "settings", "message"),
    [
        ({"a": ["x", "2", "3"]}, {"label": "a", "task": "regress"}, "got 'x' and 0 more such cells"),
        ({"a": [1.0, float("inf"), 2.0]}, {"label": "a", "task": "regress"}, "must be a finite number"),
        ({"a": [0, 1, 2]}, {"label": ["a"], "task": "multilabel"}, "a label must be 0 or 1, got 2"),
        (
            {"a": [0, 1, None], "b": [0, 1, 1]},
            {"label": ["a", "b"], "task": "multilabel"},
            "filled or empty together, got both in 1 rows",
        ),
        ({"a": [0, 1, 1]}, {"label": ["a", "c"], "task": "multilabel"}, "no such column"),
        ({"a": [0, 1, 1]}, {"label": ["a", "id"], "task": "multilabel"}, "must be different columns"),
    ],
)
def test_cells_that_cannot_be_targets_are_refused(columns, settings, message):
    with pytest.raises(TableError, match=message):
        from_tables(EDGES, _nodes(**columns), node_id="id", **settings)


def test_columns_that_contradict_the_task_are_refused():
    nodes = _nodes(a=[0, 1, 1], b=[0, 1, 0])
    with pytest.raises(ValueError, match="label must be one column unless task is 'multilabel'"):
        from_tables(EDGES, nodes, label=["a", "b"])
    with pytest.raises(ValueError, match="features must not contain a column of label, got 'b'"):
        from_tables(EDGES, nodes, label=["a", "b"], features=["b"], task="multilabel")
    with pytest.raises(ValueError, match="task must be one of"):
        from_tables(EDGES, nodes, label="a", task="guess")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([i / 7 for i in range(60)], True),
        (list(range(1000, 1060)), True),
        ([i % 7 for i in range(60)], False),
        ([i % 15 + 0.5 for i in range(60)], False),
        ([f"n{i}" for i in range(60)], False),
        ([None] * 60, False),
        ([True, False] * 30, False),
    ],
)
def test_a_column_looks_like_numbers_where_classes_make_no_sense(tmp_path, cells, expected):
    frame = pl.DataFrame({"a": cells, "b": range(60)})
    frame.write_csv(tmp_path / "n.csv")
    for table in (frame, tmp_path / "n.csv"):
        assert looks_like_numbers(open_table(table, "nodes"), "a") is expected
