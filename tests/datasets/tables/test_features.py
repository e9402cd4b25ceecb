"""Text columns and missing values among the features."""

import polars as pl
import pytest

from gadc.datasets import TableError, from_tables
from tests.helpers.tables import frames

NODES = "id,city,age\na,Rome,1\nb,,\nc,Oslo,3\n"


def test_missing_cells_are_an_error_or_filled(write):
    paths = write(nodes=NODES)
    with pytest.raises(TableError, match=r"nodes\.csv, row 3, column 'age': the cell is empty"):
        from_tables(*paths)
    mean = from_tables(*paths, categorical="onehot", missing="mean")
    assert mean.feature_names == ["city=Oslo", "city=Rome", "age"]
    assert mean.x.tolist() == [[0, 1, 1], [0.5, 0.5, 2], [1, 0, 3]]
    assert mean.table_report.imputed == {"city": 1, "age": 1}
    zero = from_tables(*paths, categorical="onehot", missing="zero", features=["age", "city"])
    assert zero.x[1].tolist() == [0, 0, 0]


def test_a_cell_with_nan_is_named_as_such_and_filled_like_an_empty_one(write):
    paths = write(nodes="id,age\na,1\nb,nan\nc,3\n")
    with pytest.raises(TableError, match=r"row 3, column 'age': the cell holds NaN .* counts as empty"):
        from_tables(*paths)
    assert from_tables(*paths, missing="mean").x.flatten().tolist() == [1, 2, 3]
    nodes = pl.DataFrame({"id": ["a", "b", "c"], "age": [1.0, None, float("nan")]})
    with pytest.raises(TableError, match="row 2, column 'age': the cell is empty"):
        from_tables(paths[0], nodes)


def test_text_columns_are_skipped_and_reported_unless_named(write):
    edges, nodes = write(nodes=NODES)
    frame = pl.DataFrame({"id": ["a", "b", "c"], "city": ["Rome", None, "Oslo"], "age": [1, 2, 3]})
    for table in (nodes, frame):
        data = from_tables(edges, table, categorical="skip", missing="zero")
        assert data.feature_names == ["age"]
        assert data.table_report.left_out == {"city": 'it is text (use categorical="onehot" to encode it)'}
        with pytest.raises(TableError, match="column 'city': cannot be a feature: it is text"):
            from_tables(edges, table, categorical="skip", features=["city"])


def test_empty_columns_are_left_out(write):
    data = from_tables(*write(nodes="id,city,age\na,,1\nb,,2\nc,,3\n"), categorical="onehot")
    assert data.table_report.left_out == {"city": "it is empty"}


def test_one_hot_encoding_refuses_too_many_values():
    edges, nodes = frames([(0, 1)], 1001, name=[f"n{i}" for i in range(1001)])
    with pytest.raises(TableError, match="1001 different values"):
        from_tables(edges, nodes, categorical="onehot")


def test_two_features_of_one_name_are_refused():
    nodes = pl.DataFrame({"id": [1, 2], "a": ["b", "c"], "a=b": [0.5, 1.5]})
    with pytest.raises(TableError, match="2 features are called 'a=b'; rename the column"):
        from_tables(pl.DataFrame({"source": [1], "target": [2]}), nodes, categorical="onehot")
