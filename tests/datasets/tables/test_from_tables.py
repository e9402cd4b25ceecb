"""`from_tables` as a whole: a small graph, errors with their place, bad options."""

import polars as pl
import pytest

from gadc.datasets import TableError, from_tables
from tests.helpers.tables import EDGES, NODES, frames


def test_from_tables_reads_a_small_graph_and_reports_its_decisions(write):
    data = from_tables(*write(), weight="weight")
    assert data.node_ids == ["a", "b", "c"]
    assert data.class_names == ["x", "y"]
    assert data.y.tolist() == [0, -1, 1]
    assert data.feature_names == ["age", "paid"]
    assert data.x.tolist() == [[1, 1], [2.5, 0], [4, 1]]
    assert data.edge_index.tolist() == [[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]]
    assert data.edge_weight.tolist() == [1, 4, 1, 2.5, 4, 2.5]
    report = data.table_report
    assert (report.rows, report.edges, report.labelled, report.isolated) == (3, 3, 2, 0)
    assert "text" in report.left_out["city"]
    assert any("'source' and 'target'" in note for note in report.notes)
    assert any("label was not named" in note for note in report.notes)
    assert report.to_dict()["columns"]["weight"] == "weight"
    assert "2 labelled, 1 unlabelled" in report.summary()


@pytest.mark.parametrize(
    ("edges", "nodes", "options", "message"),
    [
        (EDGES, NODES, {"weight": "cost"}, r"edges\.csv, column 'cost': no such column; .*'weight'"),
        (EDGES, NODES, {"features": ["size"]}, r"nodes\.csv, column 'size': no such column"),
        (
            EDGES.replace("2.5", "lots"),
            NODES,
            {"weight": "weight"},
            r"edges\.csv, row 3, column 'weight': .*'lots'",
        ),
        (
            EDGES.replace("2.5", ""),
            NODES,
            {"weight": "weight"},
            r"row 3, column 'weight': the weight is empty",
        ),
        (EDGES.replace("2.5", "-1"), NODES, {"weight": "weight"}, r"row 3, .*>= 0 .*got '-1'"),
        (EDGES.replace("2.5", "inf"), NODES, {"weight": "weight"}, r"row 3, .*finite"),
        (EDGES.replace("b,c", ",c"), NODES, {}, r"edges\.csv, row 3, column 'source': the id is empty"),
        (EDGES, NODES.replace("b,,", ",,"), {}, r"nodes\.csv, row 3, column 'id': the id is empty"),
        (EDGES, NODES.replace("c,y", "a,y"), {}, r"nodes\.csv, row 2, column 'id': the id 'a' occurs more"),
        (EDGES, NODES.replace("2.5", "old"), {}, r"nodes\.csv, row 3, column 'age': 'old' is not a number"),
        (EDGES, NODES.replace("2.5", "1e99"), {}, r"nodes\.csv, row 3, column 'age': .*too large"),
        (
            EDGES,
            NODES.replace("4,true", "4,true,1,2"),
            {},
            r"nodes\.csv, row 4: the row has 7 cells, but the header has 5",
        ),
        ("", NODES, {}, r"edges\.csv: the file is empty"),
        ("source\na\n", NODES, {}, r"must have at least two columns, got \['source'\]"),
        (EDGES, "id,f\n", {}, r"nodes\.csv: the node table must have at least one row, got none"),
        (EDGES, NODES, {"node_id": "age", "label": "age"}, r"must be different columns"),
        (EDGES, NODES, {"source": "source", "target": "source"}, r"must be different columns"),
    ],
)
def test_from_tables_names_the_place_of_an_error(write, edges, nodes, options, message):
    with pytest.raises(TableError, match=message):
        from_tables(*write(edges, nodes), **options)


def test_from_tables_lists_the_choices_of_an_option(write):
    with pytest.raises(ValueError, match="missing must be one of 'error', 'mean', 'zero', got 'median'"):
        from_tables(*write(), missing="median")
    with pytest.raises(ValueError, match="categorical must be one of 'skip', 'onehot', 'auto', got 'error'"):
        from_tables(*write(), categorical="error")
    with pytest.raises(ValueError, match="unknown must be one of 'error', 'drop', 'add', got 'skip'"):
        from_tables(*write(), unknown="skip")
    with pytest.raises(ValueError, match="source and target must be named both or not at all"):
        from_tables(*write(), source="source")
    with pytest.raises(TypeError, match="list of column names"):
        from_tables(*write(), features="age")


@pytest.mark.parametrize("column", ["*", "^id$", "id$", "row", "s", "a b"])
def test_column_names_are_not_read_as_patterns(column):
    edges, nodes = frames([(0, 1)], 2)
    data = from_tables(edges, nodes.rename({"id": column}), node_id=column)
    assert data.feature_names == ["f"]


def test_constant_columns_and_columns_of_other_types_are_reported():
    edges, nodes = frames([(0, 1)], 3, same=[2, 2, 2], flag=[True, False, True], lists=[[1], [2], [3]])
    data = from_tables(edges, nodes)
    assert data.feature_names == ["f", "same", "flag"]
    assert data.table_report.constant == ["same"]
    assert "List" in data.table_report.left_out["lists"]


def test_directed_graph_without_features_keeps_its_nodes():
    edges = pl.DataFrame({"source": [0], "target": [1]})
    data = from_tables(edges, pl.DataFrame({"id": [0, 1, 2]}), directed=True)
    assert data.x is None
    assert (data.num_nodes, data.num_edges) == (3, 1)
