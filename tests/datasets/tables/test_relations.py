"""Relations of an edge table: names, numbers, repeated and hostile cells."""

import polars as pl
import pytest

from gadc.datasets import TableError, from_tables

NODES = pl.DataFrame({"id": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]})


def _edges(rows, **schema):
    return pl.DataFrame(rows, schema=["source", "target", "kind", *schema], orient="row")


def test_each_relation_is_a_graph_of_its_own():
    rows = [
        ("a", "b", "likes"),
        ("b", "a", "likes"),
        ("a", "b", "knows"),
        ("b", "c", "knows"),
        ("c", "c", "knows"),
    ]
    data = from_tables(_edges(rows), NODES, relation="kind")
    assert data.relation_names == ["knows", "likes"]
    listed = [*zip(*data.edge_index.tolist(), data.edge_type.tolist(), strict=True)]
    assert listed == [(0, 1, 0), (1, 0, 0), (1, 2, 0), (2, 1, 0), (0, 1, 1), (1, 0, 1)]
    assert (data.table_report.edges, data.table_report.duplicates, data.table_report.self_loops) == (3, 1, 1)
    assert data.table_report.isolated == 0
    assert data.feature_preparation.roles["relation"] == "kind"


def test_numbers_name_relations_and_weights_add_up_within_one():
    rows = [("a", "b", 7, 1.0), ("a", "b", 7, 2.0), ("a", "b", 10, 5.0)]
    data = from_tables(_edges(rows, w=pl.Float64), NODES, relation="kind", weight="w")
    assert data.relation_names == ["10", "7"]
    assert data.edge_weight.tolist() == [5, 5, 3, 3]


def test_a_preparation_reads_the_same_column_and_misses_it():
    rows = [("a", "b", "likes")]
    known = from_tables(_edges(rows), NODES, relation="kind").feature_preparation
    assert from_tables(_edges(rows), NODES, preparation=known).relation_names == ["likes"]
    with pytest.raises(TableError, match="fitted on a graph with relations in this column"):
        from_tables(_edges(rows).drop("kind"), NODES, preparation=known)


def test_hostile_relations_are_refused():
    with pytest.raises(TableError, match=r"the relation is empty \(2 such rows\)"):
        from_tables(_edges([("a", "b", None), ("b", "c", ""), ("a", "c", "x")]), NODES, relation="kind")
    many = [("a", "b", f"call {i}") for i in range(40)]
    with pytest.raises(TableError, match=r"at most 32 relations, got 40 \('call 0'"):
        from_tables(_edges(many), NODES, relation="kind")
    with pytest.raises(TableError, match="must be different columns"):
        from_tables(_edges([("a", "b", "x")]), NODES, relation="source", source="source", target="target")
    with pytest.raises(TableError, match="sort"):
        from_tables(_edges([("a", "b", "x")]), NODES, relation="sort")
